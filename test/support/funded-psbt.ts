/** A Bitcoin transaction to be signed, for regtest unless told otherwise. */
import * as bitcoinjs from 'bitcoinjs-lib';

/** Spends 100,000 satoshi that an address has, and pays 99,000 of them to the receiver. */
export function fundedPsbt(
  address: string,
  network: bitcoinjs.Network = bitcoinjs.networks.regtest,
  receiver = address,
): bitcoinjs.Psbt {
  const funding = new bitcoinjs.Transaction();
  funding.addInput(new Uint8Array(32).fill(9), 0);
  const script = bitcoinjs.address.toOutputScript(address, network);
  funding.addOutput(script, 100_000n);
  const psbt = new bitcoinjs.Psbt({ network });
  psbt.addInput({
    hash: funding.getId(),
    index: 0,
    nonWitnessUtxo: funding.toBuffer(),
    witnessUtxo: { script, value: 100_000n },
  });
  psbt.addOutput({ address: receiver, value: 99_000n });
  return psbt;
}

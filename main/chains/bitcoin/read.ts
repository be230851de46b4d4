/** Bitcoin's partially signed transactions (PSBT, versions 0 and 2): their reading, and signatures in their inputs. */
import { Address, OutScript, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, p2pk } from '@scure/btc-signer/payment.js';
import { Script } from '@scure/btc-signer/script.js';
import { SigHash, Transaction } from '@scure/btc-signer/transaction.js';
import { NETWORK, TEST_NETWORK } from '@scure/btc-signer/utils.js';
import { toHex } from '../../crypto/encodings.ts';
import { attempt, unreadable, type Read } from '../reading.ts';

export type BitcoinNetwork = 'mainnet' | 'testnet' | 'regtest';

const networks = {
  mainnet: NETWORK,
  testnet: TEST_NETWORK,
  regtest: { ...TEST_NETWORK, bech32: 'bcrt' },
} as const satisfies Record<BitcoinNetwork, typeof NETWORK>;

export interface BitcoinTransaction {
  readonly version: number;
  readonly inputs: readonly {
    /** In the order of bytes that people write. */
    readonly txId: string;
    readonly vout: number;
    readonly sequence: number;
    /** In satoshis; undefined where the PSBT does not say. */
    readonly value: bigint | undefined;
    readonly address: string;
  }[];
  readonly outputs: readonly {
    readonly value: bigint;
    /** In hex. */
    readonly script: string;
    /** Empty for a script that has none, as one that only holds data. */
    readonly address: string;
    /** `p2pkh`, `p2sh`, `p2wpkh`, `p2wsh`, `p2tr`; empty where there is no address. */
    readonly addressType: string;
  }[];
  /** A height below 500,000,000, else seconds since 1970. */
  readonly lockTime: number;
  /** Undefined where an input's value is not known. */
  readonly fee: bigint | undefined;
}

export interface ReadBitcoin {
  readonly transaction: BitcoinTransaction;
  /** Why it is not to be signed: what it says of its inputs cannot be checked, or cannot be. */
  readonly faults: readonly string[];
  /**
   * Signs every input that the key unlocks, whichever of its addresses that is of.
   * @param publicKey Compressed, 33 bytes.
   * @returns the PSBT with the signatures, not finalized.
   */
  readonly sign: (privateKey: Uint8Array, publicKey: Uint8Array) => Read<Uint8Array>;
}

const options = {
  // An output may hold data, or be of a kind that does not exist yet: it is shown as what it is.
  allowUnknownOutputs: true,
  allowUnknownInputs: true,
  allowUnknownVersion: true,
  // What others put into a PSBT stays there.
  unknown: 'ignore',
} as const;

/** @param network Whose addresses are shown: a PSBT does not say. */
export function readBitcoin(bytes: Uint8Array, network: BitcoinNetwork): Read<ReadBitcoin> {
  return attempt(() => {
    const parsed = foreign('expected a Bitcoin transaction as a PSBT', () =>
      Transaction.fromPSBT(bytes, options),
    );
    const transaction = foreign('the PSBT cannot be read', () => describe(parsed, network));
    const faults = faultsOf(parsed, transaction);
    return {
      transaction,
      faults,
      sign: (privateKey, publicKey) =>
        attempt(() => {
          const [fault] = faults;
          if (fault !== undefined) unreadable(fault);
          return signInputs(bytes, privateKey, publicKey);
        }),
    };
  });
}

/** The library throws errors of its own, of all kinds, for what strangers write. */
function foreign<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    return unreadable(`${what}: ${error instanceof Error ? error.message.slice(0, 200) : 'it is none'}`);
  }
}

type Input = ReturnType<Transaction['getInput']>;

/** The output that an input spends, as the PSBT tells it. */
function spent({
  index,
  nonWitnessUtxo,
  witnessUtxo,
}: Input): { script: Uint8Array; amount: bigint } | undefined {
  const known = index === undefined ? undefined : nonWitnessUtxo?.outputs[index];
  return known ?? witnessUtxo;
}

const inputsOf = (parsed: Transaction): Input[] =>
  Array.from({ length: parsed.inputsLength }, (_, index) => parsed.getInput(index));

function describe(parsed: Transaction, network: BitcoinNetwork): BitcoinTransaction {
  const inputs = inputsOf(parsed).map((input) => {
    const { txid, index, sequence } = input;
    if (txid === undefined || index === undefined) unreadable('the PSBT has an input that spends nothing');
    const output = spent(input);
    return {
      txId: toHex(txid),
      vout: index,
      // What is left out means that the input is final.
      sequence: sequence ?? 0xffffffff,
      value: output?.amount,
      address: output === undefined ? '' : addressOf(output.script, network).address,
    };
  });
  const outputs = Array.from({ length: parsed.outputsLength }, (_, index) => {
    const { amount, script } = parsed.getOutput(index);
    if (amount === undefined || script === undefined)
      unreadable('the PSBT has an output without amount or script');
    return { value: amount, script: toHex(script), ...addressOf(script, network) };
  });
  const values = inputs.map(({ value }) => value);
  const fee = values.reduce<bigint | undefined>(
    (sum, value) => (sum === undefined || value === undefined ? undefined : sum + value),
    0n - outputs.reduce((sum, { value }) => sum + value, 0n),
  );
  return { version: parsed.version, inputs, outputs, lockTime: parsed.lockTime, fee };
}

/** The library's names of scripts that have an address, and those that people know. */
const addressTypes: Readonly<Record<string, string>> = {
  pkh: 'p2pkh',
  sh: 'p2sh',
  wpkh: 'p2wpkh',
  wsh: 'p2wsh',
  tr: 'p2tr',
};

function addressOf(
  script: Uint8Array,
  network: BitcoinNetwork,
): { readonly address: string; readonly addressType: string } {
  try {
    const decoded = OutScript.decode(script);
    const addressType = addressTypes[decoded.type];
    if (addressType === undefined) return { address: '', addressType: '' };
    return { address: Address(networks[network]).encode(decoded), addressType };
  } catch {
    return { address: '', addressType: '' };
  }
}

const isTaproot = (script: Uint8Array): boolean =>
  script.length === 34 && script[0] === 0x51 && script[1] === 0x20;

/**
 * Signatures of inputs before Taproot do not cover what the other inputs are worth, so that a PSBT which lies about that
 * would pay the difference as a fee. The transaction that an input spends from cannot lie: its hash is its id.
 */
function faultsOf(parsed: Transaction, { fee }: BitcoinTransaction): string[] {
  const faults = inputsOf(parsed).flatMap((input, index) => {
    const name = `input ${String(index + 1)}`;
    const output = spent(input);
    if (output === undefined) return [`${name} does not say what it spends`];
    if (input.nonWitnessUtxo === undefined && !isTaproot(output.script)) {
      return [
        `${name} has no non_witness_utxo: the transaction that it spends from is needed to check what it is worth`,
      ];
    }
    return [];
  });
  if (fee !== undefined && fee < 0n) faults.push('its outputs are worth more than its inputs');
  return faults;
}

function signInputs(bytes: Uint8Array, privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const parsed = Transaction.fromPSBT(bytes, options);
  const own = ownScripts(publicKey);
  let signed = 0;
  inputsOf(parsed).forEach((input, index) => {
    if (input.finalScriptSig !== undefined || input.finalScriptWitness !== undefined) return;
    const script = spent(input)?.script;
    if (script === undefined) return;
    const addition = own.get(toHex(script)) ?? (mentions(input, script, publicKey) ? {} : undefined);
    if (addition === undefined) return;
    foreign(`input ${String(index + 1)} cannot be signed`, () => {
      // What is there already is compared with the script when it is read.
      const missing = Object.entries(addition).filter(([name]) => input[name as keyof Input] === undefined);
      if (missing.length > 0) parsed.updateInput(index, Object.fromEntries(missing));
      const kind = isTaproot(script) ? [SigHash.DEFAULT, SigHash.ALL] : [SigHash.ALL];
      // One transaction has one signature, as everywhere else in the vault.
      parsed.signIdx(privateKey, index, kind, new Uint8Array(32));
    });
    signed += 1;
  });
  if (signed === 0) unreadable('none of its inputs is locked with this key');
  return foreign('the PSBT cannot be written', () => parsed.toPSBT());
}

/** The scripts of a key's addresses, and what an input of each needs beside what it spends. */
function ownScripts(publicKey: Uint8Array): ReadonlyMap<string, Partial<Input>> {
  const single = p2wpkh(publicKey);
  const wrapped = p2sh(single);
  const witness = p2wsh(p2pk(publicKey));
  const internal = publicKey.subarray(1);
  return new Map<string, Partial<Input>>([
    [toHex(p2pkh(publicKey).script), {}],
    [toHex(p2pk(publicKey).script), {}],
    [toHex(single.script), {}],
    [toHex(wrapped.script), { redeemScript: single.script }],
    [toHex(witness.script), { witnessScript: p2pk(publicKey).script }],
    [toHex(p2tr(internal).script), { tapInternalKey: internal }],
  ]);
}

/** Whether the script that unlocks an input, one of several keys for instance, holds the key. */
function mentions(
  { redeemScript, witnessScript, tapInternalKey }: Input,
  script: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  if (isTaproot(script)) {
    return tapInternalKey !== undefined && toHex(tapInternalKey) === toHex(publicKey.subarray(1));
  }
  try {
    return Script.decode(witnessScript ?? redeemScript ?? script).some(
      (part) => part instanceof Uint8Array && toHex(part) === toHex(publicKey),
    );
  } catch {
    return false;
  }
}

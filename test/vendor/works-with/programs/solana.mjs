import { TextEncoder } from 'node:util';
import {
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { Turnkey } from '@turnkey/sdk-server';
import { TurnkeySigner } from '@turnkey/solana';
import { end, report, solanaAccount, vault } from './report.mjs';

const { organizationId, url: apiBaseUrl, ...keys } = vault;
const client = new Turnkey({ apiBaseUrl, ...keys, defaultOrganizationId: organizationId }).apiClient();
const { addresses } = await client.createWallet({
  walletName: `solana ${Date.now()}`,
  accounts: [solanaAccount],
});
const [address] = addresses;

const signer = new TurnkeySigner({ organizationId, client });
const text = new TextEncoder().encode('hello');
report('signMessage', { address, message: text, signature: await signer.signMessage(text, address) });

const payer = new PublicKey(address);
const transfer = () =>
  SystemProgram.transfer({ fromPubkey: payer, toPubkey: PublicKey.default, lamports: 1 });
const recentBlockhash = PublicKey.default.toBase58();
const legacy = () => new Transaction({ feePayer: payer, recentBlockhash }).add(transfer());
const legacySigned = (transaction) => ({
  address,
  message: new Uint8Array(transaction.serializeMessage()),
  signature: new Uint8Array(transaction.signature),
});
const added = legacy();
await signer.addSignature(added, address);
report('addSignature', legacySigned(added));

const instructions = [transfer()];
const message = new TransactionMessage({
  payerKey: payer,
  recentBlockhash,
  instructions,
}).compileToV0Message();
const versioned = await signer.signTransaction(new VersionedTransaction(message), address);
report('signTransaction', { address, message: message.serialize(), signature: versioned.signatures[0] });

const all = await signer.signAllTransactions([legacy()], address);
report('signAllTransactions', legacySigned(all[0]));
end();

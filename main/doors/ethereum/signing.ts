/** Signatures: each is one request of the API, as the program's user. */
import { decodeRlp, type Item } from '../../chains/ethereum/rlp.ts';
import { readEthereum } from '../../chains/ethereum/read.ts';
import { bytesOfHex, hexOf } from '../../chains/ethereum/hex.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { ethereumMessagePrefix } from '../../lib/text/ethereum-message.ts';
import { bigEndian } from '../../chains/reading.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import type { PolicyText } from '../../lib/policies/spenders.ts';
import { policiesOfProgram } from '../../lib/policies/doors.ts';
import type { Gone, Program, SubmitOptions } from '../program.ts';
import { rpcCodes, RpcError } from './json-rpc.ts';
import { hexOfNumber } from './requests.ts';

/** @returns the signed transaction in hex; undefined where it waits for votes. */
export async function signTransaction(
  program: Program,
  { signWith, unsigned }: { readonly signWith: string; readonly unsigned: string },
  gone: Gone,
  options?: SubmitOptions,
): Promise<string | undefined> {
  const type = 'TRANSACTION_TYPE_ETHEREUM';
  const parameters = { signWith, unsignedTransaction: unsigned, type, origin: program.origin };
  const result = await submit(program, 'sign_transaction', 'SIGN_TRANSACTION_V2', parameters, gone, options);
  const { signedTransaction } = (result ?? {}) as { readonly signedTransaction?: string };
  return signedTransaction === undefined ? undefined : `0x${signedTransaction}`;
}

/** @throws RpcError notYet where it waits for votes. */
export async function signNow(
  program: Program,
  wanted: { readonly signWith: string; readonly unsigned: string },
  gone: Gone,
): Promise<string> {
  const signed = await signTransaction(program, wanted, gone);
  if (signed === undefined) throw stillWaits();
  return signed;
}

/** @returns r, s and v, as 65 bytes in hex. */
export async function signPayload(
  program: Program,
  signWith: string,
  payload: { readonly payload: string; readonly encoding: string; readonly hashFunction: string },
  gone: Gone,
): Promise<string> {
  const parameters = { signWith, ...payload, origin: program.origin };
  const result = await submit(program, 'sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', parameters, gone);
  if (result === undefined) throw stillWaits();
  const { r, s, v } = result as Readonly<Record<'r' | 's' | 'v', string>>;
  return signatureOf(BigInt(`0x${r}`), BigInt(`0x${s}`), BigInt(`0x${v}`));
}

/** A message of EIP-191, version 0x45. */
export function signMessage(
  program: Program,
  signWith: string,
  message: Uint8Array,
  gone: Gone,
): Promise<string> {
  const prefix = Buffer.from(`${ethereumMessagePrefix}${String(message.length)}`, 'utf8');
  return signBytes(program, signWith, Buffer.concat([prefix, message]), gone);
}

/** Signs the Keccak-256 of bytes. A transaction is signed as one, whatever the caller calls it. */
export async function signBytes(
  program: Program,
  signWith: string,
  bytes: Uint8Array,
  gone: Gone,
): Promise<string> {
  if (readEthereum(bytes).ok) {
    const signed = await signNow(program, { signWith, unsigned: hexOf(bytes) }, gone);
    const { r, s, parity } = partsOf(signed);
    return signatureOf(r, s, parity);
  }
  return signPayload(
    program,
    signWith,
    {
      payload: hexOf(bytes),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    },
    gone,
  );
}

export const signTypedData = (
  program: Program,
  signWith: string,
  json: string,
  gone: Gone,
): Promise<string> =>
  signPayload(
    program,
    signWith,
    { payload: json, encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' },
    gone,
  );

/** A signed transaction as clef and geth answer it. */
export function shownSigned(raw: string): { readonly raw: string; readonly tx: Record<string, unknown> } {
  const { prefix, items, v, r, s } = partsOf(raw);
  const texts = items.map((item) => (item instanceof Uint8Array ? item : new Uint8Array()));
  const fields: Readonly<Record<number, readonly string[]>> = {
    0: ['nonce', 'gasPrice', 'gas', 'to', 'value', 'input'],
    1: ['chainId', 'nonce', 'gasPrice', 'gas', 'to', 'value', 'input'],
    2: ['chainId', 'nonce', 'maxPriorityFeePerGas', 'maxFeePerGas', 'gas', 'to', 'value', 'input'],
  };
  const named = (fields[prefix] ?? []).map((name, index) => {
    const bytes = texts[index] ?? new Uint8Array();
    if (name === 'to') return [name, bytes.length === 0 ? null : hexOf(bytes)];
    return [name, name === 'input' ? hexOf(bytes) : hexOfNumber(bigEndian(bytes))];
  });
  return {
    raw,
    tx: {
      type: hexOfNumber(BigInt(prefix)),
      ...(Object.fromEntries(named) as Record<string, unknown>),
      ...{ v: hexOfNumber(v), r: hexOfNumber(r), s: hexOfNumber(s) },
      hash: hexOf(keccak256(bytesOfHex(raw))),
    },
  };
}

function partsOf(raw: string) {
  const bytes = bytesOfHex(raw);
  const prefix = (bytes[0] ?? 0) >= 0xc0 ? 0 : (bytes[0] ?? 0);
  const items = decodeRlp(
    prefix === 0 ? bytes : bytes.subarray(1),
    'a signed transaction',
  ) as readonly Item[];
  const [v = 0n, r = 0n, s = 0n] = items.slice(-3).map((item) => bigEndian(item as Uint8Array));
  return { prefix, items, v, r, s, parity: prefix === 0 ? (v + 1n) % 2n : v };
}

const signatureOf = (r: bigint, s: bigint, parity: bigint): string =>
  `0x${[r, s].map((number) => number.toString(16).padStart(64, '0')).join('')}${(27n + parity).toString(16)}`;

const stillWaits = (): RpcError =>
  new RpcError(rpcCodes.notYet, 'the request still waits for approval: send it again');

async function submit(
  program: Program,
  path: string,
  type: string,
  parameters: object,
  gone: Gone,
  options?: SubmitOptions,
): Promise<unknown> {
  try {
    return await program.submit(`ACTIVITY_TYPE_${type}`, path, parameters, gone, options);
  } catch (error) {
    if (!(error instanceof KeyhearthError) || error.turnkeyErrorCode !== 'REQUEST_NOT_AUTHORIZED')
      throw error;
    throw new RpcError(rpcCodes.unauthorized, await refusalOf(program, error, gone));
  }
}

/** Names the policies that deny, or those of the program that allow less. */
async function refusalOf(
  program: Program,
  { message, details }: KeyhearthError,
  gone: Gone,
): Promise<string> {
  const evaluations = details.flatMap((detail) =>
    Array.isArray(detail['policyEvaluations'])
      ? (detail['policyEvaluations'] as { readonly policyId: string; readonly outcome: string }[])
      : [],
  );
  const { userId } = (await program.query('whoami', {}, gone)) as { readonly userId: string };
  const { policies } = (await program.query('list_policies', {}, gone)) as unknown as {
    readonly policies: readonly (PolicyText & { readonly policyName: string })[];
  };
  const own = policiesOfProgram(userId, policies);
  const named = (wanted: (policy: PolicyText, outcome: string) => boolean): string =>
    policies
      .filter((policy) =>
        wanted(policy, evaluations.find(({ policyId }) => policyId === policy.policyId)?.outcome ?? ''),
      )
      .map(({ policyName }) => quoted(policyName))
      .join(', ');
  const denying = named((_policy, outcome) => outcome === 'OUTCOME_DENY_EXPLICIT');
  if (denying !== '') return `denied by the policy ${denying}`;
  const allowing = named(({ policyId, effect }) => effect === 'EFFECT_ALLOW' && own.includes(policyId));
  return allowing === '' ? message : `not within the policy ${allowing}`;
}

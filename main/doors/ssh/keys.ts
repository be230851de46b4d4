/** The keys that an SSH program is offered, and signatures by them: each is a request of the program's user. */
import { joinBytes } from '../../crypto/bytes.ts';
import { decodeHex, toHex } from '../../crypto/encodings.ts';
import { readPublicKey } from '../../crypto/keys/public-keys.ts';
import { encodeSshMessage, readSshPayload } from '../../chains/ssh/payloads.ts';
import {
  decodeSshKey,
  encodeSshKey,
  encodeSshSignature,
  isSshCurve,
  type SshKey,
} from '../../chains/ssh/wire.ts';
import type { Origin } from '../../chains/origin.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { sshAccountsOf, sshDoor } from '../../lib/policies/ssh-programs.ts';
import { defined } from '../../lib/defined.ts';
import { upTo } from '../../lib/text/up-to.ts';
import type { Gone, Program } from '../program.ts';
import { hostsOf } from './known-hosts.ts';
import type { MessageToSign } from './messages.ts';

export interface OfferedKey {
  readonly blob: Uint8Array;
  readonly comment: string;
}

/** @returns private keys with the tag `ssh`, and the accounts that the program's own policy names. */
export async function offeredKeys(program: Program, gone: Gone): Promise<readonly OfferedKey[]> {
  const { userId } = await program.query('whoami', {}, gone);
  const { privateKeyTags } = await program.query('list_private_key_tags', {}, gone);
  const { privateKeys } = await program.query('list_private_keys', {}, gone);
  const { policies } = await program.query('list_policies', {}, gone);
  const tagId = privateKeyTags.find(({ tagName }) => tagName === sshDoor.keyTag)?.tagId;
  const tagged = privateKeys.filter((key) => tagId !== undefined && key.privateKeyTags.includes(tagId));
  return [
    ...tagged.map(({ publicKey, privateKeyName }) => ({ publicKey, comment: privateKeyName })),
    ...sshAccountsOf(userId, policies).map((publicKey) => ({ publicKey, comment: 'wallet account' })),
  ].flatMap(({ publicKey, comment }) => {
    const key = sshKeyOf(publicKey);
    return key === undefined ? [] : [{ blob: encodeSshKey(key), comment }];
  });
}

/** @param publicKey As the API shows it. @returns undefined for a key on another curve. */
export function sshKeyOf(publicKey: string): SshKey | undefined {
  for (const [curve, hex] of readPublicKey(publicKey)) {
    if (!isSshCurve(curve)) continue;
    const key = { curve, publicKey: decodeHex('publicKey', hex) };
    try {
      encodeSshKey(key);
      return key;
    } catch {
      // A point of secp256k1 has the same length.
    }
  }
  return undefined;
}

interface Wish {
  readonly bindings: readonly Uint8Array[];
  readonly homeDirectory: string;
  readonly gone: Gone;
}

/** Signs what an SSH client asks for. @returns the signature as SSH writes it. */
export function signData(
  program: Program,
  { key, data }: { readonly key: Uint8Array; readonly data: Uint8Array },
  wish: Wish,
): Promise<Uint8Array> {
  return sign(program, knownKey(key), data, {}, wish);
}

/** Signs a message that came whole: what is shown to people is what is hashed here. */
export function signMessage(program: Program, wanted: MessageToSign, wish: Wish): Promise<Uint8Array> {
  const { namespace, message, repository, branch } = wanted;
  const data = encodeSshMessage(namespace, 'sha512', message);
  const preimage = { bytes: toHex(message), hashFunction: 'HASH_FUNCTION_SHA512' } as const;
  const claims = defined({ repository: claim(repository), branch: claim(branch) });
  return sign(program, knownKey(wanted.key), data, { preimage, claims }, wish);
}

/** Characters of a claim; a longer one is cut, as it proves nothing. */
const longestClaim = 500;
const claim = (text: string): string | undefined => (text === '' ? undefined : upTo(text, longestClaim));

function knownKey(blob: Uint8Array): SshKey {
  const key = decodeSshKey(blob);
  if (key !== undefined) return key;
  throw new KeyhearthError('NOT_FOUND', 'the key is neither Ed25519 nor P-256');
}

async function sign(
  program: Program,
  key: SshKey,
  data: Uint8Array,
  more: {
    readonly preimage?: { readonly bytes: string; readonly hashFunction: 'HASH_FUNCTION_SHA512' };
    readonly claims?: Pick<Origin, 'repository' | 'branch'>;
  },
  { bindings, homeDirectory, gone }: Wish,
): Promise<Uint8Array> {
  // The bytes of a transaction are none of SSH, and no policy for other users may let a program sign them.
  if (readSshPayload(data)?.ok !== true) {
    throw new KeyhearthError(
      'PERMISSION_DENIED',
      'the bytes to sign are neither a login nor a message of SSH',
    );
  }
  const origin: Origin = {
    ...program.origin,
    ...(bindings.length > 0 && { bindings: bindings.map(toHex) }),
    ...defined({ host: hostOf(data, homeDirectory) }),
    ...more.claims,
  };
  const parameters = {
    signWith: toHex(key.publicKey),
    payload: toHex(data),
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: key.curve === 'CURVE_P256' ? 'HASH_FUNCTION_SHA256' : 'HASH_FUNCTION_NOT_APPLICABLE',
    ...(more.preimage && { preimage: more.preimage }),
    origin,
  } as const;
  const { r, s } = await program.submitNow('ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', parameters, gone);
  const numbers = [r, s].map((hex) => decodeHex('signature', hex.padStart(64, '0')));
  return encodeSshSignature(key.curve, joinBytes(numbers));
}

/** The server's names in the user's known hosts, for a login that names its key. */
function hostOf(data: Uint8Array, homeDirectory: string): string | undefined {
  const read = readSshPayload(data);
  if (read?.ok !== true || read.value.kind !== 'login' || read.value.hostKey === undefined) return undefined;
  return claim(hostsOf(read.value.hostKey, homeDirectory).join(', '));
}

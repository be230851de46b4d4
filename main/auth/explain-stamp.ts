/**
 * Explains why a proof does not hold, step by step, for the author of a client. It looks at each part for itself, so that one fault
 * does not hide the next, and tries the usual mistakes. It decides nothing: `authenticate.ts` does.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ProofStep } from '../../preload/contract.ts';
import { sha256 } from '../crypto/hashes.ts';
import { verifyP256Raw } from '../crypto/keys/p256.ts';
import { isUuid } from '../crypto/uuid.ts';
import { findAuthenticator, findAuthenticatorsBelow } from '../storage/tables/authenticators.ts';
import {
  findApiKey,
  findApiKeysAnywhere,
  findApiKeysBelow,
  type ApiKeyRow,
} from '../storage/tables/api-keys.ts';
import type { Reader } from '../storage/connection.ts';
import { getOrganization, type OrganizationRow } from '../storage/tables/organizations.ts';
import { isOver, type Clock } from '../lib/clock.ts';
import { KeyhearthError, quoted } from '../lib/errors.ts';
import { withoutBreak } from '../lib/concurrency/paced.ts';
import { readClientData } from '../lib/web/web-authentication.ts';
import { stampHeaders } from './authenticate.ts';
import { messageOf, schemes, type Scheme } from './schemes.ts';
import { parseStamp, type Stamp } from './parse-stamp.ts';
import { parseAssertion, passkeyProof } from './webauthn.ts';

/** A request whose proof did not hold. */
export interface Unproven {
  readonly raw: Uint8Array;
  readonly headers: IncomingHttpHeaders;
  readonly rpId: string;
  readonly clock: Clock;
}

const step =
  (outcome: ProofStep['outcome']) =>
  (check: ProofStep['check'], text: string, advice: string | null = null): ProofStep => ({
    check,
    outcome,
    text,
    advice,
  });
const passed = step('passed');
const failed = step('failed');
const skipped = step('skipped');

/** @returns each step in the order in which the service takes them; times of requests are looked at elsewhere. */
export function explainStamp(tx: Reader, request: Unproven): ProofStep[] {
  const { headers, raw } = request;
  const stamp = headers['x-stamp'];
  const assertion = headers['x-stamp-webauthn'];
  const body = readBody(raw);
  const came = stampHeaders.filter((name) => typeof headers[name.toLowerCase()] === 'string');
  if (came.length > 1) {
    return [
      failed('header', `${came.join(' and ')} came.`, 'Send one of them: a request has one proof.'),
      ...body.steps,
    ];
  }
  if (typeof stamp === 'string') return explainApiKey(tx, request, stamp, body);
  if (typeof assertion === 'string') return explainPasskey(tx, request, assertion, body);
  return [explainMissing(headers), ...body.steps, ...explainOrganization(tx, body).steps];
}

function explainMissing(headers: IncomingHttpHeaders): ProofStep {
  if (typeof headers['x-stamp-attested'] === 'string') {
    return failed(
      'header',
      'X-Stamp-Attested came. Keyhearth has no attested stamps.',
      'Sign in with otp_login or oauth_login, then sign the body with the session’s key and send the stamp in X-Stamp.',
    );
  }
  if (typeof headers['x-session'] === 'string') {
    return failed(
      'header',
      'X-Session came, which proves nothing here, or no longer.',
      'A session token asks queries for an hour, and may have been ended; submits need a stamp.',
    );
  }
  const advice =
    headers.authorization === undefined
      ? 'Sign the body with an API key and send the stamp in the header X-Stamp. Headers are lost where a proxy or a redirect drops them.'
      : 'Authorization is not read: there are no bearer tokens. Sign the body with an API key and send the stamp in X-Stamp.';
  return failed('header', 'Neither X-Stamp nor X-Stamp-Webauthn came.', advice);
}

interface Body {
  readonly steps: readonly ProofStep[];
  readonly organizationId: string | undefined;
}

/** Describes the signed bytes by size and hash alone. */
function readBody(raw: Uint8Array): Body {
  const size = `${String(raw.length)} ${raw.length === 1 ? 'byte' : 'bytes'} arrived, SHA-256 ${digest(raw)}`;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(raw).toString('utf8'));
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { organizationId } = value as Record<string, unknown>;
    return {
      steps: [passed('body', `${size}.`)],
      organizationId: typeof organizationId === 'string' ? organizationId : undefined,
    };
  }
  const advice =
    raw.length === 0
      ? 'The body is empty: send the JSON as the body of a POST.'
      : raw[0] === 0xef && raw[1] === 0xbb
        ? 'It begins with a byte order mark: write UTF-8 without one.'
        : 'Send exactly the JSON object that was signed, in UTF-8.';
  return {
    steps: [failed('body', `${size}. It is not a JSON object.`, advice)],
    organizationId: undefined,
  };
}

function explainApiKey(tx: Reader, request: Unproven, header: string, body: Body): ProofStep[] {
  const steps = [passed('header', `X-Stamp came, ${String(header.length)} characters.`)];
  const stamp = attempt(() => parseStamp(header));
  if ('problem' in stamp) {
    return [
      ...steps,
      failed('encoding', sentence(stamp.problem), adviseEncoding(header)),
      ...body.steps,
      skipped('signature', 'Without a stamp there is no signature to check.'),
      ...explainOrganization(tx, body).steps,
    ];
  }
  steps.push(passed('encoding', 'It is base64url of JSON with publicKey, scheme and signature.'));
  const { publicKey, scheme: name } = stamp.value;
  const scheme = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
  if (scheme === undefined) {
    steps.push(
      failed(
        'scheme',
        `${quoted(name)} is no scheme.`,
        `Expected one of ${Object.keys(schemes).join(', ')}.`,
      ),
    );
  } else {
    steps.push(passed('scheme', `${name}.`));
    const bytes = publicKey.length / 2;
    steps.push(
      bytes === scheme.publicKeyLength
        ? passed('publicKey', `${publicKey}.`)
        : failed(
            'publicKey',
            `${String(bytes)} bytes; ${name} takes ${String(scheme.publicKeyLength)}.`,
            bytes === 65 && publicKey.startsWith('04')
              ? 'The key is uncompressed. Send its compressed form, 33 bytes that begin with 02 or 03.'
              : 'Check that scheme and key belong together.',
          ),
    );
  }
  steps.push(...body.steps, explainSignature(request.raw, stamp.value, scheme));
  const organization = explainOrganization(tx, body);
  steps.push(...organization.steps, ...explainKey(tx, request, stamp.value, scheme, organization.row));
  return steps;
}

function adviseEncoding(header: string): string {
  if (header.trimStart().startsWith('{')) return 'The header is the JSON itself: send base64url of it.';
  if (/^(0x)?[0-9a-fA-F]+$/.test(header)) {
    return 'The header looks like hex, such as a bare signature: send base64url of JSON with publicKey, scheme and signature.';
  }
  return 'Send base64url, without line breaks, of JSON with publicKey, scheme and signature; the last two of those in hex.';
}

function explainSignature(raw: Uint8Array, stamp: Stamp, scheme: Scheme | undefined): ProofStep {
  if (scheme === undefined) return skipped('signature', 'Without a scheme it cannot be checked.');
  const signature = Buffer.from(stamp.signature, 'hex');
  const holdsBy = (each: Scheme, body: Uint8Array): boolean =>
    each.verify(stamp.publicKey, signature, withoutBreak(messageOf(each, body)));
  const holds = (body: Uint8Array): boolean => holdsBy(scheme, body);
  if (holds(raw)) return passed('signature', 'It holds over exactly these bytes.');
  const size = `${String(signature.length)} bytes`;
  if (verifyRaw(stamp, raw)) {
    return failed(
      'signature',
      `It is of this key over these bytes, but in another form: ${size}, r and s side by side.`,
      'Send the signature in DER, which begins with 30. WebCrypto makes the other form: convert it.',
    );
  }
  const other = Object.entries(schemes).find(([, each]) => each !== scheme && holdsBy(each, raw));
  if (other) {
    return failed('signature', 'It holds, but by another scheme.', `Send ${other[0]} as the stamp’s scheme.`);
  }
  const mistake =
    raw.length > largestGuessed ? undefined : usualMistakes.find(({ signed }) => signed(raw).some(holds));
  if (mistake) return failed('signature', mistake.text, mistake.advice);
  return failed(
    'signature',
    `It does not hold over these bytes (${size}).`,
    'Either the body changed after it was signed, or another private key signed it. Compare the SHA-256 above with that of what you sign, and check that the private key belongs to the public key.',
  );
}

/** ECDSA on P-256, as WebCrypto writes its signatures. */
const verifyRaw = ({ publicKey, signature, scheme }: Stamp, raw: Uint8Array): boolean =>
  scheme === 'SIGNATURE_SCHEME_TK_API_P256' &&
  signature.length === 128 &&
  verifyP256Raw(publicKey, Buffer.from(signature, 'hex'), raw);

/** In bytes: of larger bodies, each guess would keep the service from others for too long. */
const largestGuessed = 64 * 1024;

interface Mistake {
  /** Other bytes that the client may have signed in place of the body. */
  readonly signed: (raw: Uint8Array) => readonly Uint8Array[];
  readonly text: string;
  readonly advice: string;
}

const text = (raw: Uint8Array): string => Buffer.from(raw).toString('utf8');
const bytes = (value: string): Uint8Array => Buffer.from(value, 'utf8');

function reserialised(raw: Uint8Array): readonly Uint8Array[] {
  try {
    const value: unknown = JSON.parse(text(raw));
    return [JSON.stringify(value), JSON.stringify(value, null, 2), pythonJson(value)].map(bytes);
  } catch {
    return [];
  }
}

/** As Python's `json.dumps` writes what has no text with `": "` or `", "` in it. */
const pythonJson = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(/([[{]) /g, '$1')
    .replace(/ ([\]}])/g, '$1');

const usualMistakes: readonly Mistake[] = [
  {
    signed: (raw) => ['\n', '\r\n'].map((end) => Buffer.concat([raw, bytes(end)])),
    text: 'It holds over these bytes and a line break at their end, which did not arrive.',
    advice:
      'The client signed a line break that it does not send. With curl, send files by --data-binary: --data takes line breaks out.',
  },
  {
    signed: (raw) => [bytes(text(raw).trim())],
    text: 'It holds over these bytes without the white space around them.',
    advice:
      'Something added white space after the body was signed, such as a line break at the end of a file.',
  },
  {
    signed: (raw) => [bytes(text(raw).replace(/\n|\r/g, '')), bytes(text(raw).replace(/\r\n/g, '\n'))],
    text: 'It holds over these bytes with other line breaks.',
    advice: 'Send the body as it was signed, byte by byte.',
  },
  {
    signed: reserialised,
    text: 'It holds over the same JSON, written with other white space.',
    advice:
      'The body was written as JSON twice, once to sign and once to send. Write it once, and sign and send that text.',
  },
  {
    signed: (raw) => [sha256(raw), bytes(digest(raw))],
    text: 'It holds over the hash of these bytes.',
    advice:
      'The body was hashed before it was given to the signing function, which hashes it again. Sign the body itself.',
  },
  {
    signed: () => [new Uint8Array(0), bytes('{}')],
    text: 'It is over an empty body.',
    advice: 'The client signed before the body was there. Sign the text that is sent.',
  },
];

interface FoundOrganization {
  readonly steps: readonly ProofStep[];
  readonly row: OrganizationRow | undefined;
}

function explainOrganization(tx: Reader, { organizationId }: Body): FoundOrganization {
  const only = (found: ProofStep, row?: OrganizationRow): FoundOrganization => ({ steps: [found], row });
  if (organizationId === undefined) {
    return only(failed('organization', 'The body names none.', 'Give its id in the field organizationId.'));
  }
  if (!isUuid(organizationId)) {
    return only(
      failed('organization', `${quoted(organizationId)} is no UUID.`, 'Give its id, not its name.'),
    );
  }
  const row = getOrganization(tx, organizationId.toLowerCase());
  return row === undefined
    ? only(
        failed(
          'organization',
          `This vault has no organization ${organizationId}.`,
          'The id may be of another vault. The window shows this one’s under Organization.',
        ),
      )
    : only(passed('organization', `${organizationId}, “${row.name}”.`), row);
}

function explainKey(
  tx: Reader,
  { clock }: Unproven,
  { publicKey }: Stamp,
  scheme: Scheme | undefined,
  organization: OrganizationRow | undefined,
): readonly ProofStep[] {
  if (organization === undefined) return [skipped('credential', 'It is looked up in an organization.')];
  const { id, parentId } = organization;
  const key =
    findApiKey(tx, id, publicKey) ??
    (parentId === null ? undefined : findApiKey(tx, parentId, publicKey)) ??
    findApiKeysBelow(tx, id, publicKey)[0];
  if (key === undefined) return [missingKey(tx, publicKey)];
  if (scheme !== undefined && !scheme.credentialTypes.includes(key.credentialType)) {
    return [
      failed(
        'credential',
        `It is registered as ${key.credentialType}, which this scheme does not prove.`,
        'Use the scheme of the key’s kind.',
      ),
    ];
  }
  return [passed('credential', `It is the API key “${key.name}”.`), explainExpiry(key, clock)];
}

function missingKey(tx: Reader, publicKey: string): ProofStep {
  const [elsewhere] = findApiKeysAnywhere(tx, publicKey);
  if (elsewhere === undefined) {
    return failed(
      'credential',
      'Nobody in this vault has this public key.',
      'Register it for a user, or use another key. It may have been deleted, or belong to another vault.',
    );
  }
  return failed(
    'credential',
    `The organization does not know this key; ${elsewhere.organizationId} does.`,
    `Name ${elsewhere.organizationId} in organizationId.`,
  );
}

function explainExpiry(key: ApiKeyRow, clock: Clock): ProofStep {
  const { expiresAt } = key;
  if (expiresAt === null) return passed('expiry', 'It does not expire.');
  const at = new Date(expiresAt).toISOString();
  if (!isOver(key, clock.now())) return passed('expiry', `It expires ${at}.`);
  const why =
    expiresAt <= clock.now()
      ? `It expired ${at}.`
      : 'It was registered while this computer’s clock was ahead.';
  return failed('expiry', why, 'Make a new key, or sign in again where it was a session’s.');
}

function explainPasskey(tx: Reader, request: Unproven, header: string, body: Body): ProofStep[] {
  const steps = [passed('header', `X-Stamp-Webauthn came, ${String(header.length)} characters.`)];
  const assertion = attempt(() => parseAssertion(header));
  const organization = explainOrganization(tx, body);
  if ('problem' in assertion) {
    steps.push(
      failed(
        'encoding',
        sentence(assertion.problem),
        'Send JSON with credentialId, authenticatorData, clientDataJson and signature, each in base64url.',
      ),
      ...body.steps,
      skipped('signature', 'Without an assertion there is no signature to check.'),
      ...organization.steps,
    );
    return steps;
  }
  steps.push(
    passed('encoding', 'It is JSON with credentialId, authenticatorData, clientDataJson and signature.'),
    ...body.steps,
  );
  const challenge = Buffer.from(digest(request.raw)).toString('base64url');
  const isOfBody = readClientData(assertion.value.clientDataJson)?.challenge === challenge;
  const { row } = organization;
  const proven =
    row &&
    attempt(() =>
      passkeyProof(request.raw, header, request.rpId)
        .against({ organizationId: row.id, below: true, recovering: true }, request.clock)
        .identify(tx),
    );
  // The API does not tell the two apart; the owner of the vault may know.
  const refused = proven !== undefined && 'problem' in proven && proven.code === 'CREDENTIAL_NOT_FOUND';
  const isKnown = row !== undefined && knowsPasskey(tx, row, assertion.value.credentialId);
  const unknown = refused && !isKnown;
  if (!isOfBody) {
    steps.push(
      failed(
        'signature',
        'The challenge that the passkey signed is not the hash of these bytes.',
        'The challenge is the UTF-8 of the lowercase hex of the body’s SHA-256. Sign the very text that is sent.',
      ),
    );
  } else if (proven === undefined || unknown) {
    steps.push(
      skipped('signature', 'The challenge is of these bytes; the signature takes the passkey’s public key.'),
    );
  } else {
    steps.push(
      'problem' in proven
        ? failed(
            'signature',
            refused
              ? 'It is not by this credential over authenticatorData and clientDataJson.'
              : sentence(proven.problem),
          )
        : passed('signature', 'It holds over exactly these bytes.'),
    );
  }
  steps.push(...organization.steps);
  if (unknown) {
    steps.push(
      failed(
        'credential',
        'The organization knows no passkey of this credential id.',
        'Register it for a user, or name the organization that knows it in organizationId.',
      ),
    );
  }
  return steps;
}

const knowsPasskey = (tx: Reader, { id, parentId }: OrganizationRow, credentialId: string): boolean =>
  [id, ...(parentId === null ? [] : [parentId])].some((each) => findAuthenticator(tx, each, credentialId)) ||
  findAuthenticatorsBelow(tx, id, credentialId).length > 0;

type Attempt<T> = { readonly value: T } | { readonly problem: string; readonly code: string };

function attempt<T>(work: () => T): Attempt<T> {
  try {
    return { value: work() };
  } catch (error) {
    if (error instanceof KeyhearthError) return { problem: error.message, code: error.turnkeyErrorCode };
    throw error;
  }
}

const sentence = (message: string): string => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;

/** In hex. */
const digest = (raw: Uint8Array): string => createHash('sha256').update(raw).digest('hex');

/**
 * Attestations: what a browser answers when it has made a passkey. @simplewebauthn/server checks the statement inside,
 * in every format that it knows and a device may still send. It makes no network request, not even for lists of
 * revoked certificates.
 */
import { X509Certificate } from 'node:crypto';
import { followChain } from '../../crypto/keys/certificate-chains.ts';
import { coseAlgorithms, coseKeyFault } from '../../crypto/keys/cose-keys.ts';
import { KeyhearthError, quoted } from '../../lib/errors.ts';
import {
  base64Text,
  findFault,
  readAuthenticatorData,
  readClientData,
} from '../../lib/web/web-authentication.ts';

/** An attestation as requests carry one; texts in base64url. */
export interface Attestation {
  readonly credentialId: string;
  readonly clientDataJson: string;
  readonly attestationObject: string;
}

/** A passkey whose attestation was checked; texts in base64url without padding. */
export interface AttestedCredential {
  readonly credentialId: string;
  /** A COSE_Key. */
  readonly publicKey: string;
  /** Of the statement: `none`, `packed`. */
  readonly format: string;
  readonly aaguid: string;
  readonly signCount: number;
  /** True if the passkey may be copied to other devices. */
  readonly multiDevice: boolean;
}

/** The pages that may register a passkey. */
export interface RelyingParty {
  readonly rpId: string;
  /** The only origins; undefined for every page of the relying party. */
  readonly origins: readonly string[] | undefined;
}

/** Formats whose certificates lead to known roots, and how many of them the library itself looks at. */
const rooted = { apple: 1, 'android-key': 2 } as const;
type RootedFormat = keyof typeof rooted;
const isRooted = (format: string): format is RootedFormat => Object.hasOwn(rooted, format);

/** Of those that the library knows, android-safetynet is missing: the service behind it is gone. */
const formats: readonly string[] = ['none', 'packed', 'fido-u2f', 'tpm', ...Object.keys(rooted)];

/** The DER name of the extension that says where revoked certificates are listed (RFC 5280, section 4.2.1.13). */
const revocationListName = Buffer.from('0603551d1f', 'hex');

/**
 * @param challenge What the authenticator was to sign: base64url, or the text whose bytes it was.
 * @param at The name of the attestation in the request, for errors.
 * @throws KeyhearthError INVALID_ARGUMENT naming the field.
 */
export async function verifyAttestation(
  challenge: string,
  given: Attestation,
  { rpId, origins }: RelyingParty,
  at: string,
): Promise<AttestedCredential> {
  const library = await loadLibrary();
  const refuse = (field: keyof Attestation, problem: string): KeyhearthError =>
    new KeyhearthError(
      'INVALID_ARGUMENT',
      `missing or invalid authenticator attestation: ${at}.${field}: ${problem}`,
    );

  // Clients send every form of base64; the library reads one. The id comes as it is, or in CBOR as the specification has it.
  const attestation = {
    credentialId: canonical(given.credentialId),
    clientDataJson: canonical(given.clientDataJson),
    attestationObject: canonical(given.attestationObject),
  };
  const clientData = readClientData(Buffer.from(attestation.clientDataJson, 'base64url'));
  const read = readObject(library, attestation.attestationObject);
  if (read === undefined) {
    throw refuse('attestationObject', 'expected CBOR with fmt, attStmt and authData, in base64url');
  }
  const fault = findFault(clientData, readAuthenticatorData(read.authData), {
    type: 'webauthn.create',
    isChallenge: (signed) => isSameChallenge(signed, challenge),
    otherwise: 'its challenge is not the one of this request',
    rpId,
    origins,
  });
  if (fault !== undefined) {
    throw refuse(fault.field === 'clientDataJson' ? fault.field : 'attestationObject', fault.problem);
  }
  const { aaguid, credentialID, credentialPublicKey, counter, flags } = read.parsed;
  if (aaguid === undefined || credentialID === undefined || credentialPublicKey === undefined) {
    throw refuse('attestationObject', 'expected a new credential in its authData, got none');
  }
  const credentialId = base64url(credentialID);
  if (
    attestation.credentialId !== credentialId &&
    attestation.credentialId !== base64url(cborOf(credentialID))
  ) {
    throw refuse('credentialId', `expected the one in the attestationObject, ${credentialId}`);
  }
  const keyFault = coseKeyFault(credentialPublicKey);
  if (keyFault !== undefined) throw refuse('attestationObject', keyFault);
  const problem = await findStatementProblem(library, read, credentialId, attestation, rpId);
  if (problem !== undefined) throw refuse('attestationObject', problem);
  return {
    credentialId,
    publicKey: base64url(credentialPublicKey),
    format: read.fmt,
    aaguid: base64url(aaguid),
    signCount: counter,
    multiDevice: flags.be,
  };
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** A byte string in CBOR's shortest form (RFC 8949, section 3.1). */
function cborOf(bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  const head =
    length < 24 ? [0x40 + length] : length < 256 ? [0x58, length] : [0x59, length >> 8, length & 0xff];
  return Uint8Array.from([...head, ...bytes]);
}

const canonical = (text: string): string => Buffer.from(text, 'base64url').toString('base64url');

const isSameChallenge = (signed: string, given: string): boolean =>
  (base64Text.test(given) && signed === canonical(given)) ||
  signed === Buffer.from(given).toString('base64url');

type Library = Awaited<ReturnType<typeof importLibrary>>;

let library: Promise<Library> | undefined;

/** Loaded with the first passkey, since it takes longer than the rest of the service together. */
const loadLibrary = (): Promise<Library> => (library ??= importLibrary());

async function importLibrary() {
  const { SettingsService, verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { decodeAttestationObject, isoCBOR, parseAuthenticatorData } =
    await import('@simplewebauthn/server/helpers');
  const roots = new Map<string, readonly X509Certificate[]>();
  for (const identifier of Object.keys(rooted) as RootedFormat[]) {
    const certificates = SettingsService.getRootCertificates({ identifier });
    roots.set(
      identifier,
      certificates.map((pem) => new X509Certificate(pem)),
    );
    // The library would fetch what the certificates on the way to its roots name as lists of revoked ones.
    SettingsService.setRootCertificates({ identifier, certificates: [] });
  }
  return { roots, verifyRegistrationResponse, decodeAttestationObject, parseAuthenticatorData, isoCBOR };
}

/** An attestation object, taken apart. */
interface ReadObject {
  readonly fmt: string;
  readonly attStmt: ReadonlyMap<string, unknown>;
  readonly authData: Uint8Array<ArrayBuffer>;
  readonly parsed: ReturnType<Library['parseAuthenticatorData']>;
}

function readObject(
  { decodeAttestationObject, parseAuthenticatorData }: Library,
  text: string,
): ReadObject | undefined {
  try {
    const object: unknown = decodeAttestationObject(new Uint8Array(Buffer.from(text, 'base64url')));
    if (!(object instanceof Map)) return undefined;
    const entries = object as ReadonlyMap<unknown, unknown>;
    const [fmt, attStmt, authData] = [entries.get('fmt'), entries.get('attStmt'), entries.get('authData')];
    if (typeof fmt !== 'string' || !(attStmt instanceof Map) || !(authData instanceof Uint8Array)) {
      return undefined;
    }
    const bytes = new Uint8Array(authData);
    return {
      fmt,
      attStmt: attStmt as ReadonlyMap<string, unknown>,
      authData: bytes,
      parsed: parseAuthenticatorData(bytes),
    };
  } catch {
    return undefined;
  }
}

/** True if the library would fetch a revocation list: of the leaf, or of a self-issued issuer. */
const namesRevocationList = (chain: readonly Uint8Array[]): boolean =>
  chain
    .filter((der, index) => index === 0 || isSelfIssued(new X509Certificate(der)))
    .some((der) => Buffer.from(der).includes(revocationListName));

const isSelfIssued = ({ subject, issuer }: X509Certificate): boolean => subject === issuer;

async function findStatementProblem(
  { roots, isoCBOR, verifyRegistrationResponse }: Library,
  { fmt, attStmt, authData }: ReadObject,
  credentialId: string,
  { clientDataJson, attestationObject }: Attestation,
  rpId: string,
): Promise<string | undefined> {
  if (!formats.includes(fmt)) return `expected fmt to be one of ${formats.join(', ')}, got ${quoted(fmt)}`;
  let object = attestationObject;
  if (isRooted(fmt)) {
    const chain = attStmt.get('x5c');
    if (!Array.isArray(chain) || !chain.every((certificate) => certificate instanceof Uint8Array)) {
      return `expected certificates in the x5c of its ${fmt} statement`;
    }
    const anchor = followChain(chain, roots.get(fmt) ?? [], new Date());
    if (typeof anchor === 'string') return `its ${fmt} statement does not hold: ${anchor}`;
    const x5c = [...chain, anchor.raw].slice(0, rooted[fmt]);
    if (x5c.length > 1 && namesRevocationList(x5c)) {
      return `its ${fmt} statement has a certificate that may be revoked, and Keyhearth asks nobody whether it is`;
    }
    const shortened = new Map<string, unknown>([
      ['fmt', fmt],
      ['attStmt', new Map([...attStmt, ['x5c', x5c]])],
      ['authData', authData],
    ]);
    object = base64url(isoCBOR.encode(shortened as never));
  }
  try {
    const { verified } = await verifyRegistrationResponse({
      response: {
        id: credentialId,
        rawId: credentialId,
        type: 'public-key',
        response: { clientDataJSON: clientDataJson, attestationObject: object },
        clientExtensionResults: {},
      },
      expectedRPID: rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: [...coseAlgorithms],
      // The caller has compared these.
      expectedChallenge: () => true,
      expectedOrigin: readClientData(Buffer.from(clientDataJson, 'base64url'))?.origin ?? '',
    });
    return verified ? undefined : `its ${fmt} statement does not hold: its signature is of something else`;
  } catch {
    return `its ${fmt} statement does not hold: it does not follow the format`;
  }
}

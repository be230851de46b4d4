/** Signing with a private key or a wallet account. */
import { z } from 'zod';
import { activity, older, type ActivityContext } from '../activities/define.ts';
import { signerOf, type AddressFormat } from '../crypto/addresses.ts';
import { curves, type Curve, type CurveEntry, type Signature } from '../crypto/curves.ts';
import { derivePrivateKey } from '../crypto/derivation.ts';
import { hashFunctions, type HashFunction } from '../crypto/hashes.ts';
import { payloadEncodings, type PayloadEncoding } from '../crypto/payloads.ts';
import { readPublicKey } from '../crypto/public-keys.ts';
import {
  findPrivateKeyByAddress,
  getPrivateKeyRow,
  privateKeyPlace,
  type PrivateKeyRow,
} from '../db/private-keys.ts';
import {
  findAccountByAddress,
  findAccountByPublicKey,
  type WalletAccountRow,
} from '../db/wallet-accounts.ts';
import { getWalletRow } from '../db/wallets.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { limits } from './limits.ts';
import { privateKeyIdOf } from './private-key-ids.ts';
import { withSeed } from './wallet-secrets.ts';
import { shownSignature } from './resources.ts';

const params = z.object({
  signWith: z.string().min(1).max(200),
  payload: z.string().max(limits.payloadCharacters),
  encoding: z.enum(Object.keys(payloadEncodings) as [PayloadEncoding, ...PayloadEncoding[]]),
  hashFunction: z.enum(Object.keys(hashFunctions) as [HashFunction, ...HashFunction[]]),
});

type SignParams = z.output<typeof params>;

export const signRawPayload = activity({
  path: 'sign_raw_payload',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  intent: 'signRawPayloadIntentV2',
  result: 'signRawPayloadResult',
  params,
  specified: {
    intent: 'signRawPayloadIntent',
    describe: ({ signWith, ...rest }) => ({ privateKeyId: signWith, ...rest }),
  },
  returns: shownSignature,
  accepts: {
    ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: older({
      intent: 'signRawPayloadIntent',
      params: params.omit({ signWith: true }).extend({ privateKeyId: params.shape.signWith }),
      upgrade: ({ privateKeyId, ...rest }): SignParams => ({ signWith: privateKeyId, ...rest }),
    }),
  },
  run(context) {
    const { payload, ...how } = context.params;
    return { ...signPayload(findSigner(context, how.signWith), how, payload, 'parameters.payload') };
  },
});

export const signRawPayloads = activity({
  path: 'sign_raw_payloads',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
  intent: 'signRawPayloadsIntent',
  result: 'signRawPayloadsResult',
  params: params
    .omit({ payload: true })
    .extend({ payloads: z.array(params.shape.payload).min(1).max(limits.batch) }),
  returns: z.object({ signatures: z.array(shownSignature) }),
  run(context) {
    const { payloads, ...how } = context.params;
    const signer = findSigner(context, how.signWith);
    return {
      signatures: payloads.map((payload, index) =>
        signPayload(signer, how, payload, `parameters.payloads[${String(index)}]`),
      ),
    };
  },
});

/** @param at The payload's name in the request, for errors. */
function signPayload(
  signer: Signer,
  { encoding, hashFunction }: Pick<SignParams, 'encoding' | 'hashFunction'>,
  payload: string,
  at: string,
): Signature {
  checkHashFunction(signer.curve, hashFunction);
  checkEncoding(signer.curve, encoding, hashFunction);
  const bytes = hashFunctions[hashFunction](payloadEncodings[encoding].decode(at, payload));
  if (curves[signer.curve].requiresDigest && bytes.length !== 32) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `invalid ${at}: expected a 32-bytes-long digest with ${hashFunction}, got ${String(bytes.length)} bytes`,
    );
  }
  return signer.sign(signer.secret(), bytes);
}

/** What an encoding makes a digest of is not hashed again, and is no message of Ed25519. */
function checkEncoding(curve: Curve, encoding: PayloadEncoding, hashFunction: HashFunction): void {
  if (!payloadEncodings[encoding].makesDigest || hashFunction === 'HASH_FUNCTION_NO_OP') return;
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    curves[curve].requiresDigest
      ? `invalid hash function: parameters.hashFunction: ${encoding} makes the digest itself, expected HASH_FUNCTION_NO_OP, got ${hashFunction}`
      : `invalid parameters.encoding: ${encoding} makes a digest, which a key on ${curve} does not sign; expected ${Object.entries(
          payloadEncodings,
        )
          .filter(([, { makesDigest }]) => !makesDigest)
          .map(([name]) => name)
          .join(' or ')}`,
  );
}

/** Ed25519 hashes for itself and takes the message whole; ECDSA signs a digest. */
function checkHashFunction(curve: Curve, hashFunction: HashFunction): void {
  const hashesItself = !curves[curve].requiresDigest;
  if (hashesItself === (hashFunction === 'HASH_FUNCTION_NOT_APPLICABLE')) return;
  const fitting = Object.keys(hashFunctions).filter(
    (candidate) => hashesItself === (candidate === 'HASH_FUNCTION_NOT_APPLICABLE'),
  );
  throw new LatchkeyError(
    'INVALID_ARGUMENT',
    `invalid hash function: parameters.hashFunction: a key on ${curve} takes ${fitting.join(', ')}, got ${hashFunction}`,
  );
}

interface Signer {
  readonly curve: Curve;
  readonly sign: CurveEntry['sign'];
  /** The private key, lent until the vault locks. */
  readonly secret: () => Uint8Array;
}

type SigningContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId'>;

/**
 * What `signWith` names: a private key by id or address, a wallet account by address, to the letter; or either by its
 * public key. An address says how its chain signs as well; an id or a public key leaves it at the curve's own way.
 */
function findSigner(context: SigningContext, signWith: string): Signer {
  const { tx, organizationId } = context;
  const byId = getPrivateKeyRow(tx, organizationId, signWith);
  if (byId) return privateKeySigner(context, byId);
  const addressed = findPrivateKeyByAddress(tx, organizationId, signWith);
  if (addressed) return privateKeySigner(context, addressed.key, addressed.format as AddressFormat);
  const account = findAccountByAddress(tx, organizationId, signWith);
  if (account) return accountSigner(context, account, account.addressFormat as AddressFormat);
  for (const [curve, publicKey] of readPublicKey(signWith)) {
    const key = getPrivateKeyRow(tx, organizationId, privateKeyIdOf(organizationId, curve, publicKey));
    if (key) return privateKeySigner(context, key);
    const derived = findAccountByPublicKey(tx, organizationId, curve, publicKey);
    if (derived) return accountSigner(context, derived);
  }
  throw new LatchkeyError('NOT_FOUND', 'Could not find any resource to sign with.', {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.Help',
        description:
          'signWith is the id, an address or the public key of a private key, or the address or the public key of a wallet account, ' +
          'in this organization. Addresses are compared to the letter, upper and lower case included. A wallet id is not accepted.',
      },
    ],
  });
}

function privateKeySigner({ keys }: SigningContext, row: PrivateKeyRow, format?: AddressFormat): Signer {
  const curve = row.curve as Curve;
  return {
    curve,
    sign: format === undefined ? curves[curve].sign : signerOf(format, curve),
    secret: () => keys.cached(`private key ${row.id}`, () => keys.open(privateKeyPlace(row), row.sealed)),
  };
}

function accountSigner(
  { tx, keys }: SigningContext,
  account: WalletAccountRow,
  format?: AddressFormat,
): Signer {
  const curve = account.curve as Curve;
  const { organizationId, walletId } = account;
  return {
    curve,
    sign: format === undefined ? curves[curve].sign : signerOf(format, curve),
    secret: () =>
      keys.cached(`wallet account ${account.id}`, () => {
        const wallet = getWalletRow(tx, organizationId, walletId);
        if (wallet === undefined) throw new Error(`wallet account ${account.id} has no wallet`);
        return withSeed(keys, wallet, (seed) => derivePrivateKey(curve, seed, account.path));
      }),
  };
}

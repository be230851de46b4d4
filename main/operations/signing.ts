/** Signing with a private key or a wallet account. */
import { z } from 'zod';
import { activity, older, type ActivityContext } from '../activities/define.ts';
import { curves, type Curve, type Signature } from '../crypto/curves.ts';
import { derivePrivateKey } from '../crypto/derivation.ts';
import { hashFunctions, type HashFunction } from '../crypto/hashes.ts';
import { payloadEncodings, type PayloadEncoding } from '../crypto/payloads.ts';
import {
  findPrivateKeyByAddress,
  getPrivateKeyRow,
  privateKeyPlace,
  type PrivateKeyRow,
} from '../db/private-keys.ts';
import { findAccountByAddress, type WalletAccountRow } from '../db/wallet-accounts.ts';
import { getWalletRow } from '../db/wallets.ts';
import { LatchkeyError } from '../lib/errors.ts';
import { limits } from './limits.ts';
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
  const curve = curves[signer.curve];
  checkHashFunction(signer.curve, hashFunction);
  const bytes = hashFunctions[hashFunction](payloadEncodings[encoding].decode(at, payload));
  if (curve.requiresDigest && bytes.length !== 32) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `invalid ${at}: expected a 32-bytes-long digest with ${hashFunction}, got ${String(bytes.length)} bytes`,
    );
  }
  return curve.sign(signer.secret(), bytes);
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
  /** The private key, lent until the vault locks. */
  readonly secret: () => Uint8Array;
}

type SigningContext = Pick<ActivityContext<unknown>, 'tx' | 'keys' | 'organizationId'>;

/** What `signWith` names: a private key by id or address, or a wallet account by address, to the letter. */
function findSigner(context: SigningContext, signWith: string): Signer {
  const { tx, organizationId } = context;
  const key =
    getPrivateKeyRow(tx, organizationId, signWith) ?? findPrivateKeyByAddress(tx, organizationId, signWith);
  if (key) return privateKeySigner(context, key);
  const account = findAccountByAddress(tx, organizationId, signWith);
  if (account) return accountSigner(context, account);
  throw new LatchkeyError('NOT_FOUND', 'Could not find any resource to sign with.', {
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.Help',
        description:
          'signWith is the id or an address of a private key, or the address of a wallet account, in this organization. ' +
          'Addresses are compared to the letter, upper and lower case included. A wallet id is not accepted.',
      },
    ],
  });
}

function privateKeySigner({ keys }: SigningContext, row: PrivateKeyRow): Signer {
  return {
    curve: row.curve as Curve,
    secret: () => keys.cached(`private key ${row.id}`, () => keys.open(privateKeyPlace(row), row.sealed)),
  };
}

function accountSigner({ tx, keys }: SigningContext, account: WalletAccountRow): Signer {
  const curve = account.curve as Curve;
  const { organizationId, walletId } = account;
  return {
    curve,
    secret: () =>
      keys.cached(`wallet account ${account.id}`, () => {
        const wallet = getWalletRow(tx, organizationId, walletId);
        if (wallet === undefined) throw new Error(`wallet account ${account.id} has no wallet`);
        return withSeed(keys, wallet, (seed) => derivePrivateKey(curve, seed, account.path));
      }),
  };
}

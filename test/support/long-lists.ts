/** Large vaults, without the time to sign and derive for real: rows as the service writes them. */
import { createHash, randomBytes } from 'node:crypto';
import { appendActivity, logEnd, type ActivityEntry } from '../../main/storage/tables/activities.ts';
import type { UnitOfWork } from '../../main/storage/unit-of-work.ts';
import { keepUserSnapshot } from '../../main/storage/tables/user-snapshots.ts';
import { insertAccount } from '../../main/storage/tables/wallet-accounts.ts';
import { uuidV4, uuidV7 } from '../../main/crypto/uuid.ts';
import type { ActivityStatus } from '../../main/lib/activity-status.ts';

interface Place {
  readonly units: UnitOfWork;
  readonly organizationId: string;
}

/** Rows in one COMMIT: the undo data of SQLite grows faster than their number. */
const atOnce = 250;

const day = 86_400_000;

/** When the first of them was asked for; each next one an even step later, up to the last. */
interface Times {
  readonly from?: number;
  readonly to?: number;
}

/** The n-th activity: nine in ten sign, one in a hundred fails. */
export const kindOf = (
  index: number,
): Pick<ActivityEntry, 'type' | 'status' | 'intent' | 'result' | 'failure'> => {
  const status: ActivityStatus = index % 100 === 99 ? 'ACTIVITY_STATUS_FAILED' : 'ACTIVITY_STATUS_COMPLETED';
  const failure = {
    code: 'INVALID_ARGUMENT',
    message: 'a failure of a test',
    turnkeyErrorCode: '',
    details: [],
  };
  const done = status === 'ACTIVITY_STATUS_COMPLETED';
  const ends = { status, failure: done ? null : JSON.stringify(failure) };
  if (index % 10 === 0) {
    return {
      ...ends,
      type: 'ACTIVITY_TYPE_CREATE_WALLET',
      intent: JSON.stringify({ walletName: `Wallet no. ${String(index)}`, accounts: [], mnemonicLength: 12 }),
      result: done
        ? JSON.stringify({ walletId: uuidV4(new Uint8Array(randomBytes(16))), addresses: [] })
        : null,
    };
  }
  return {
    ...ends,
    type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
    intent: JSON.stringify({
      signWith: '0x52908400098527886E0F7030069857D2E4169EE7',
      payload: `message ${String(index)}`,
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    }),
    result: done
      ? JSON.stringify({ r: randomBytes(32).toString('hex'), s: randomBytes(32).toString('hex'), v: '00' })
      : null,
  };
};

/** Appends that many activities of a user. */
export async function fillActivities(
  { units, organizationId }: Place,
  { userId, count, from, to = Date.now() }: Times & { readonly userId: string; readonly count: number },
): Promise<void> {
  const start = from ?? to - 400 * day;
  for (let first = 0; first < count; first += atOnce) {
    await units.write((tx) => {
      const snapshot = keepUserSnapshot(tx, organizationId, userId);
      const already = logEnd(tx).sequence;
      for (let index = first; index < Math.min(count, first + atOnce); index++) {
        const at = Math.floor(start + ((to - start) * index) / count);
        const message = `{"timestampMs":"${String(at)}","number":${String(already + index)}}`;
        appendActivity(tx, {
          id: uuidV7(at, new Uint8Array(randomBytes(10))),
          revision: 1,
          organizationId,
          ...kindOf(index),
          fingerprint: `sha256:${createHash('sha256').update(message).digest('hex')}`,
          timestampMs: at,
          votes: JSON.stringify([
            {
              id: uuidV4(new Uint8Array(randomBytes(16))),
              userId,
              snapshot,
              selection: 'VOTE_SELECTION_APPROVED',
              message,
              publicKey: `02${'00'.repeat(32)}`,
              signature: '00'.repeat(70),
              scheme: 'SIGNATURE_SCHEME_TK_API_P256',
              createdAt: at,
            },
          ]),
          createdAt: at,
          updatedAt: at,
        });
      }
    });
  }
}

/**
 * Adds that many Ethereum accounts to a wallet, after those at the paths before `firstIndex`; their keys do
 * not exist.
 */
export async function fillAccounts(
  { units, organizationId }: Place,
  {
    walletId,
    count,
    firstIndex = 0,
  }: { readonly walletId: string; readonly count: number; readonly firstIndex?: number },
): Promise<void> {
  const now = Date.now();
  for (let first = 0; first < count; first += atOnce) {
    await units.write((tx) => {
      for (let index = first; index < Math.min(count, first + atOnce); index++) {
        insertAccount(tx, {
          id: uuidV4(new Uint8Array(randomBytes(16))),
          organizationId,
          walletId,
          name: index % 1000 === 0 ? `Customer ${String(index)}` : null,
          curve: 'CURVE_SECP256K1',
          path: `m/44'/60'/0'/0/${String(firstIndex + index)}`,
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
          address: `0x${randomBytes(20).toString('hex')}`,
          publicKey: `02${randomBytes(32).toString('hex')}`,
          exported: 0,
          createdAt: now,
          updatedAt: now,
        });
      }
    });
  }
}

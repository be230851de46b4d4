/** The cost of each part of a signed request. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { curves } from '../../main/crypto/keys/curves.ts';
import { toHex } from '../../main/crypto/encodings.ts';
import { generateP256, signP256, verifyP256 } from '../../main/crypto/keys/p256.ts';
import { appendActivity } from '../../main/storage/tables/activities.ts';
import { Connection } from '../../main/storage/connection.ts';
import { migrate } from '../../main/storage/migrations.ts';
import { runLoad } from './load.ts';
import { time } from './time.ts';

/** Microseconds each. */
export interface Primitives extends Readonly<Record<string, number>> {
  readonly stampVerifyUs: number;
  readonly signUs: number;
  readonly commitUs: number;
  readonly expressUs: number;
}

export async function measurePrimitives(directory: string): Promise<Primitives> {
  return {
    stampVerifyUs: timeStampVerify(),
    signUs: timeSign(),
    commitUs: timeCommit(join(directory, 'commit.db')),
    expressUs: await timeExpress(),
  };
}

const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));

function timeStampVerify(): number {
  const { publicKey, privateKey } = generateP256(random);
  const hex = toHex(publicKey);
  const body = random(300);
  const signature = new Uint8Array(Buffer.from(signP256(privateKey, body), 'hex'));
  return time(() => {
    if (!verifyP256(hex, signature, body)) throw new Error('a good stamp does not verify');
  }, 500);
}

function timeSign(): number {
  const privateKey = curves.CURVE_SECP256K1.generate(random);
  const digest = random(32);
  return time(() => curves.CURVE_SECP256K1.sign(privateKey, digest), 500);
}

/** One row of the activity log, durable, in a transaction of its own. */
function timeCommit(file: string): number {
  const connection = Connection.open(file);
  migrate(connection);
  const text = JSON.stringify('x'.repeat(300));
  try {
    return time(() => {
      const id = randomBytes(16).toString('hex');
      connection.transaction(() =>
        appendActivity(connection, {
          id,
          revision: 1,
          organizationId: 'organization',
          type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
          status: 'ACTIVITY_STATUS_COMPLETED',
          fingerprint: id,
          timestampMs: 0,
          intent: text,
          result: text,
          failure: null,
          votes: text,
          createdAt: 0,
          updatedAt: 0,
        }),
      );
    }, 200);
  } finally {
    connection.close();
  }
}

async function timeExpress(): Promise<number> {
  const server = fork(join(import.meta.dirname, 'express.ts'));
  try {
    const [port] = (await once(server, 'message')) as [number];
    const body = JSON.stringify('x'.repeat(300));
    const { perSecond } = await runLoad(
      `http://127.0.0.1:${String(port)}/`,
      () => ({ body, headers: {} }),
      2,
    );
    return 1e6 / perSecond;
  } finally {
    server.kill();
  }
}

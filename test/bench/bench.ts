/**
 * `npm run bench`: signed `sign_raw_payload` requests per second through the real port, beside what their parts cost
 * when each is measured alone in the same run; and the unlock, backup, verification and restore of vaults of several
 * sizes. `--json` prints one JSON object; `--seconds` sets the length of each load, `--accounts` the sizes.
 *
 * The bound is one request after another: a stamp verified, a payload signed, a row committed to the disk, and an
 * empty answer from Express. Connections that share a COMMIT may beat it.
 *
 * `sign` also has the processor time of a signature in the service's threads, and in the load generator's own. `kinds` are other
 * ways to sign: more connections, half the rate, other curves, a hundred payloads a request, a hundred policies.
 *
 * `policies` is what it costs to decide over 100 of them, in microseconds.
 *
 * `longLog` is signing in a vault whose log has `--activities` in it, beside signing in one that has none.
 *
 * `ethereumDoor` is `eth_signTransaction` of a paired tool, within its budget, beside anvil's `eth_sign`, which decides and keeps
 * nothing. `node test/project/prepare.ts` installs anvil.
 *
 * `mutations` are valid transactions changed at random, `--mutations` of each chain: no decoder may throw.
 *
 * `--lies` measures nothing else: it tries the law of one reading on `--reads` payloads of each chain, and the ready-made
 * budgets on as many requests; `--only tron,budgets` tries some of them. It ends with 1 where anything breaks them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfNeeded } from '../../main/start.ts';
import { measureBackups } from './backups.ts';
import { measureEthereumDoor } from './ethereum-door.ts';
import { measureLies } from './lies.ts';
import { measureMutations } from './mutations.ts';
import { measurePolicies } from './policies.ts';
import { measurePrimitives } from './primitives.ts';
import { measureKinds } from './signing-kinds.ts';
import {
  measureSigning,
  measureSigningDuringBackups,
  measureSigningDuringWebhooks,
  measureSigningInLongLog,
} from './signing.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean' },
    seconds: { type: 'string', default: '5' },
    accounts: { type: 'string', default: '10,10000,100000' },
    mutations: { type: 'string', default: '100000' },
    activities: { type: 'string', default: '200000' },
    lies: { type: 'boolean' },
    reads: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
  },
});

if (values.lies === true) {
  const only = values.only === '' ? [] : values.only.split(',');
  const result = await measureLies(Number(values.reads), only);
  print(result);
  const broken = Object.values(result).some(({ violations }) => violations !== 0);
  process.exit(broken ? 1 : 0);
}

await buildIfNeeded();
const directory = mkdtempSync(join(tmpdir(), 'keyhearth-bench-'));
try {
  const primitives = await measurePrimitives(directory);
  const sum = Object.values(primitives).reduce((total, part) => total + part, 0);
  const boundPerSecond = 1e6 / sum;
  const load = await measureSigning(directory, Number(values.seconds));
  const backups = await measureBackups(directory, values.accounts.split(',').map(Number));
  const result = {
    primitives,
    sign: { ...load, boundPerSecond, ratio: load.perSecond / boundPerSecond },
    kinds: await measureKinds(join(directory, 'kinds'), Number(values.seconds)),
    policies: measurePolicies(),
    mutations: measureMutations(Number(values.mutations)),
    ...backups,
    signDuringBackup: await measureSigningDuringBackups(join(directory, 'busy'), Number(values.seconds)),
    longLog: await measureSigningInLongLog(
      join(directory, 'long-log'),
      Number(values.seconds),
      Number(values.activities),
    ),
    webhooks: await measureSigningDuringWebhooks(join(directory, 'webhooks'), Number(values.seconds)),
    ethereumDoor: await measureEthereumDoor(join(directory, 'ethereum-door'), Number(values.seconds)),
  };
  print(result);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function print(result: Readonly<Record<string, object>>): void {
  process.stdout.write(values.json === true ? `${JSON.stringify(result, round)}\n` : table(result));
}

function round(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 100) / 100 : value;
}

function table(result: Readonly<Record<string, object>>): string {
  const lines = Object.entries(result).flatMap(([group, numbers]) =>
    Object.entries(numbers).map(
      ([name, value]) => `${group}.${name}`.padEnd(36) + String(round(name, value)),
    ),
  );
  return `${lines.join('\n')}\n`;
}

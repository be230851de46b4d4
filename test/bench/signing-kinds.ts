/** Other ways to sign, each beside plain signatures of the same service a moment before: what else the machine does meets both. */
import { mkdirSync } from 'node:fs';
import { conditions } from './policies.ts';
import { startBench, type Bench, type Signing } from './signing.ts';

export type Kinds = Readonly<Record<string, number>>;

const policies = 100;
const counting = 20;

/** Payloads in one request. */
const batch = 100;

export async function measureKinds(directory: string, seconds: number): Promise<Kinds> {
  mkdirSync(directory);
  await using bench = await startBench(directory);
  await bench.load(1);
  const figures: Record<string, number> = {};
  const measure = async (name: string, signing: Signing): Promise<void> => {
    const plain = await bench.load(seconds);
    const load = await bench.load(seconds, signing);
    const signatures = load.perSecond * (signing.payloads ?? 1);
    figures[`${name}PerSecond`] = signatures;
    figures[`${name}Ratio`] = signatures / plain.perSecond;
    figures[`${name}P99Ms`] = load.p99Ms;
  };
  await measure('oneConnection', { connections: 1 });
  await measure('connections64', { connections: 64 });
  const { perSecond } = await bench.load(seconds);
  figures['halfRateP99Ms'] = (await bench.load(seconds, { perSecond: perSecond / 2 })).p99Ms;
  await measure('ed25519', { curve: 'CURVE_ED25519' });
  await measure('p256', { curve: 'CURVE_P256' });
  await measure(`batchOf${String(batch)}`, { payloads: batch });
  figures['policiesRatio'] = await measureWithPolicies(bench, seconds);
  return figures;
}

/** @returns the rate with policies, of which some count signatures, as part of the rate without any. */
async function measureWithPolicies(bench: Bench, seconds: number): Promise<number> {
  const plain = await bench.load(seconds);
  await bench.submit('create_policies', 'CREATE_POLICIES', {
    policies: Array.from({ length: policies }, (_, index) => ({
      policyName: `policy ${String(index)}`,
      ...(index < counting ? ofCount(index) : ofOthers(index)),
      notes: '',
    })),
  });
  return (await bench.load(seconds)).perSecond / plain.perSecond;
}

/** Denies more signatures within some hours than the bench makes. */
const ofCount = (index: number) => ({
  effect: 'EFFECT_DENY',
  condition: `activity.action == 'SIGN' && RollingCount('${String(1 + (index >> 1))}h', ${index % 2 === 0 ? 'submitter.id' : 'signing_key.public_key'}) > 1000000000`,
});

const ofOthers = (index: number) => ({
  effect: 'EFFECT_ALLOW',
  condition: conditions[index % conditions.length]?.replaceAll('#', String(index % 10)),
  consensus: "approvers.any(user, user.id == '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70')",
});

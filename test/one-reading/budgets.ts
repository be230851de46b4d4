/** Checks that no request of a user with a ready-made policy gets more than the policy allows. */
import {
  decodeFunctionData,
  erc20Abi,
  keccak256,
  recoverAddress,
  recoverTransactionAddress,
  type Hex,
} from 'viem';
import { decideSubmitted, keepReservations } from '../../main/activities/decision/decide.ts';
import { parseRequest } from '../../main/activities/request/parse-request.ts';
import type { Writer } from '../../main/storage/connection.ts';
import type { Caller } from '../../main/lib/caller.ts';
import { KeyhearthError } from '../../main/lib/errors.ts';
import { operations } from '../../main/operations/index.ts';
import { activityOf, resultOf, type Answer, type Json } from '../support/support.ts';
import {
  effectsOf,
  parsed,
  requestOf,
  usdc,
  type Effect,
  type SceneRequest,
  type Transaction,
} from './budget-requests.ts';
import { firstWallet, friend, openScene, type Scene, type SceneUser } from './budget-scene.ts';
import { randomOf } from './law.ts';

const ether = 10n ** 18n;
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** An amount that counts towards a limit. */
interface Count {
  readonly of: string;
  readonly amount: bigint;
  readonly most: bigint;
  readonly window: number;
}

/** By ready-made policy: what a signature counts for; undefined for one that it must never allow. */
const promises: Readonly<Record<string, (effect: Effect) => readonly Count[] | undefined>> = {
  budget({ key, transaction }) {
    if (transaction === undefined || !isPayment(transaction)) return undefined;
    const amount = spentBy(transaction);
    return [{ of: `ether of ${String(key.ethereum)}`, amount, most: ether, window: day }];
  },
  'token-budget'({ key, transaction }) {
    if (transaction === undefined || !isOrdinary(transaction)) return undefined;
    const { to, value = 0n, data = '0x' } = transaction;
    if (to?.toLowerCase() !== usdc.toLowerCase() || value !== 0n || data.length !== 2 + 2 * 68)
      return undefined;
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
    if (functionName !== 'transfer') return undefined;
    const of = String(key.ethereum);
    return [
      { of: `USDC of ${of}`, amount: args[1], most: 1_000_000_000n, window: day },
      { of: `fees of ${of}`, amount: feeOf(transaction), most: ether / 50n, window: day },
    ];
  },
  'pay-known'({ transaction }) {
    if (transaction === undefined || !isPayment(transaction)) return undefined;
    return transaction.to?.toLowerCase() === friend && spentBy(transaction) <= ether ? [] : undefined;
  },
  'sign-with-wallet': ({ key }) => (key.wallet === firstWallet ? [] : undefined),
};

const isOrdinary = ({ type, chainId, to }: Transaction): boolean =>
  ['legacy', 'eip2930', 'eip1559'].includes(String(type)) && chainId === 1 && typeof to === 'string';
const isPayment = (transaction: Transaction): boolean =>
  isOrdinary(transaction) && (transaction.data ?? '0x') === '0x';
const feeOf = ({ gas = 0n, gasPrice, maxFeePerGas }: Transaction): bigint =>
  gas * (gasPrice ?? maxFeePerGas ?? 0n);
const spentBy = (transaction: Transaction): bigint => (transaction.value ?? 0n) + feeOf(transaction);

/** The limit of signatures is every user's. */
const rate = ({ signatures }: Effect, { userId }: SceneUser): Count => ({
  of: `signatures of ${userId}`,
  amount: BigInt(signatures),
  most: 100n,
  window: hour,
});

export interface Outcome {
  readonly tried: number;
  /** Requests that were allowed, by ready-made policy. */
  readonly allowed: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

/** Adds up what was signed over the last while, and tells what no policy gave. */
class Watch {
  readonly #violations: string[] = [];
  readonly #allowed: Record<string, number> = {};
  readonly #counted = new Map<string, readonly { readonly at: number; readonly amount: bigint }[]>();

  add(user: SceneUser, effects: readonly Effect[], at: number): void {
    const { template } = user;
    this.#allowed[template] = (this.#allowed[template] ?? 0) + 1;
    for (const effect of effects) {
      const counts = promises[template]?.(effect);
      if (counts === undefined) this.#violations.push(`${template} allowed ${written(effect)}`);
      for (const count of [...(counts ?? []), rate(effect, user)]) this.#count(count, at);
    }
  }

  outcome(tried: number): Outcome {
    return { tried, allowed: this.#allowed, violations: this.#violations };
  }

  #count({ of, amount, most, window }: Count, at: number): void {
    const within = [...(this.#counted.get(of) ?? []).filter((each) => each.at > at - window), { at, amount }];
    this.#counted.set(of, within);
    const total = within.reduce((sum, each) => sum + each.amount, 0n);
    if (total > most) this.#violations.push(`${String(total)} ${of}, where ${String(most)} are given`);
  }
}

const written = ({ key, transaction }: Effect): string =>
  JSON.stringify({ key: key.names[0], transaction }, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );

/** Asks the service over HTTP, 64 requests at once, some of them twice. Everything happens within an hour. */
export async function askAll(scene: Scene, count: number, seed: number): Promise<Outcome> {
  const random = randomOf(seed);
  const watch = new Watch();
  const seen = new Set<string>();
  const atOnce = 64;
  for (let done = 0; done < count; done += atOnce) {
    const asked = Array.from({ length: Math.min(atOnce, count - done) }, () => {
      const user = random.pick(scene.users);
      const request = requestOf(random, scene, user);
      const body = user.client.submitBody(request.type, request.parameters);
      return { user, request, body, times: random.below(10) === 0 ? 2 : 1 };
    });
    await Promise.all(
      asked
        .flatMap((each) => Array.from({ length: each.times }, () => each))
        .map(async ({ user, request, body }) => {
          const answer = await user.client.post(`submit/${request.operation}`, body);
          if (answer.status !== 200) return;
          const { id } = activityOf(answer);
          if (seen.has(id)) return;
          seen.add(id);
          watch.add(user, await signedBy(request, answer), 0);
        }),
    );
  }
  return watch.outcome(count);
}

/** The signed effects, by the signatures themselves: another key's would count for that key. */
async function signedBy(request: SceneRequest, answer: Answer): Promise<readonly Effect[]> {
  const effects = effectsOf(request);
  const { signedTransaction, signatures } = resultOf(answer) as Json & {
    readonly signedTransaction?: string;
    readonly signatures?: readonly Json[];
  };
  if (request.parameters['type'] === 'TRANSACTION_TYPE_ETHEREUM') {
    const hex = `0x${String(signedTransaction)}` as const;
    const signer = await recoverTransactionAddress({ serializedTransaction: hex as never });
    checkSigner(request, signer);
    return effects.map((effect) => ({ ...effect, transaction: parsed(hex) }));
  }
  const all = signatures ?? (request.operation === 'sign_raw_payload' ? [resultOf(answer)] : []);
  const { payload, payloads, signWith, privateKeyId } = request.parameters;
  // By a name of another chain a key may sign in the way of that chain.
  if (!request.key.ethereumNames.includes(String(signWith ?? privateKeyId))) return effects;
  for (const [index, { r, s, v }] of all.entries()) {
    // Only of what viem reads the digest is known here.
    if (effects[index]?.transaction === undefined || request.key.ethereum === undefined) continue;
    const given = String(signatures === undefined ? payload : (payloads as readonly unknown[])[index]);
    const bytes = `0x${given.replace(/^0x/, '')}` as const;
    const hash = request.parameters['hashFunction'] === 'HASH_FUNCTION_NO_OP' ? bytes : keccak256(bytes);
    const signature = { r: `0x${String(r)}`, s: `0x${String(s)}`, yParity: Number(v) } as const;
    checkSigner(request, await recoverAddress({ hash, signature }));
  }
  return effects;
}

function checkSigner({ key }: SceneRequest, signer: Hex): void {
  if (signer.toLowerCase() !== key.ethereum?.toLowerCase()) throw new Error(`signed by ${signer}`);
}

/** Decides on requests as the service does, each a while after the one before, without signing them. */
export async function decideAll(scene: Scene, count: number, seed: number): Promise<Outcome> {
  const random = randomOf(seed);
  const watch = new Watch();
  let now = scene.vault.clock.now();
  const inOneTransaction = 1000;
  for (let done = 0; done < count; done += inOneTransaction) {
    await scene.vault.vault.units.write((tx) => {
      for (let number = done; number < Math.min(count, done + inOneTransaction); number += 1) {
        now += random.below(3 * minute);
        const user = random.pick(scene.users);
        const request = requestOf(random, scene, user);
        if (isAllowed(tx, user, request, now)) watch.add(user, effectsOf(request), now);
      }
    });
  }
  return watch.outcome(count);
}

function isAllowed(
  tx: Writer,
  { userId, client: { organizationId, key } }: SceneUser,
  { operation: path, type, parameters }: SceneRequest,
  now: number,
): boolean {
  const operation = operations.byPath.get(`submit/${path}`);
  if (operation?.kind !== 'activity' || operation.vote !== undefined) throw new Error(`no operation ${path}`);
  const caller: Caller = {
    organizationId,
    userId,
    root: false,
    stamp: { publicKey: key.publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: '' },
  };
  const body = { type: `ACTIVITY_TYPE_${type}`, timestampMs: String(now), organizationId, parameters };
  try {
    const { params } = parseRequest(operation, body);
    const verdict = decideSubmitted(tx, operation, { type: body.type, organizationId, params }, caller, now);
    if (verdict.outcome !== 'allow') return false;
    keepReservations(tx, organizationId, 'an activity', verdict.reservations, now);
    return true;
  } catch (error) {
    // An invalid request, or one without anything to sign, is refused.
    if (error instanceof KeyhearthError) return false;
    throw error;
  }
}

/** @returns how many requests were decided on and allowed, and how often more was signed than a policy gives. */
export async function measureBudgets(count: number): Promise<Readonly<Record<string, number>>> {
  await using scene = await openScene();
  const { tried, allowed, violations } = await decideAll(scene, count, 20_260_102);
  for (const violation of violations.slice(0, 20)) console.error(`budgets: ${violation}`);
  return { tried, ...allowed, violations: violations.length };
}

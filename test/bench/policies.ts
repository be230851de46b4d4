/** The cost of deciding over as many policies as an organization may have. */
import { decide } from '../../main/policy/decide/decide.ts';
import type { Facts, Voter } from '../../main/policy/decide/facts.ts';
import { compilePolicy, type PolicyText } from '../../main/policy/decide/policies.ts';
import { replay } from '../../main/policy/analysis/replay.ts';
import { time } from './time.ts';
import { withoutBreak } from '../../main/lib/concurrency/paced.ts';

const user = (index: number): Voter => ({
  userId: `user-${index}`,
  root: false,
  tags: [`tag-${index % 10}`],
});

/** As they are written: most are about another user, tag, wallet, receiver or chain. */
export const conditions = [
  "activity.action == 'SIGN' && wallet.id == 'wallet-#'",
  "eth.tx.to == '0x000000000000000000000000000000000000000#' && eth.tx.value < 1000000000000000000",
  "activity.kind == 'SIGN_TRANSACTION' && eth.tx.chain_id == # && eth.tx.data[0..10] == '0xa9059cbb'",
  "activity.resource in ['WALLET', 'POLICY', 'USER'] && activity.action == 'CREATE'",
  "solana.tx.transfers.all(transfer, transfer.to == 'receiver-#')",
];
const consensuses = [
  "approvers.any(user, user.id == 'user-#')",
  "approvers.any(user, user.tags.contains('tag-#'))",
  "approvers.filter(user, user.tags.contains('tag-#')).count() >= 2",
];

const texts = (count: number): readonly PolicyText[] =>
  Array.from({ length: count }, (_, index) => ({
    policyId: `policy-${index}`,
    effect: index % 4 === 3 ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
    condition: conditions[index % conditions.length]?.replaceAll('#', String(index + 5)),
    consensus: consensuses[index % consensuses.length]?.replaceAll('#', String(index + 5)),
  }));

/** Microseconds to decide once over 100 compiled policies, and milliseconds to replay 100 activities with them. */
export function measurePolicies(): Readonly<Record<string, number>> {
  const facts: Facts = {
    approvers: [user(1)],
    rootQuorumThreshold: 1,
    policies: texts(100).map((text) => compilePolicy(text)),
    items: [
      {
        activity: () => ({
          type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
          kind: 'SIGN_TRANSACTION',
          resource: 'PRIVATE_KEY',
          action: 'SIGN',
          params: { type: 'TRANSACTION_TYPE_ETHEREUM' },
        }),
        wallet: () => ({ id: 'wallet-1', imported: false, exported: false, label: 'w' }),
        'eth.tx': () => ({
          to: `0x${'ab'.repeat(20)}`,
          value: 10n ** 18n,
          chain_id: 1,
          data: `0xa9059cbb${'00'.repeat(64)}`,
        }),
      },
    ],
    voters: () => Array.from({ length: 10 }, (_, index) => user(index)),
  };
  const past = Array.from({ length: 100 }, () => facts);
  return {
    decide100Us: time(() => decide(facts), 200),
    replay100x100Ms: time(() => withoutBreak(replay(past, texts(100))), 1) / 1000,
  };
}

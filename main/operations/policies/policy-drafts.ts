/** Policies before they are created: checked and described. The real API has nothing of the kind. */
import { z } from 'zod';
import { actions, query, resources, type Operations, type Shown } from '../../activities/define.ts';
import type { Reader } from '../../storage/connection.ts';
import { listPolicyRows } from '../../storage/tables/policies.ts';
import { listPrivateKeyRows } from '../../storage/tables/private-keys.ts';
import { listTagRows } from '../../storage/tables/tags.ts';
import { listUserRows } from '../../storage/tables/users.ts';
import { findAccountByAddress } from '../../storage/tables/wallet-accounts.ts';
import { listWalletRows } from '../../storage/tables/wallets.ts';
import { checksumAddress, readEthereumAddress } from '../../chains/addresses/ethereum.ts';
import { writtenAddress } from '../../policy/language/addresses.ts';
import { problemsOf, warningsOf, type Known } from '../../policy/language/check.ts';
import { describeLanguage } from '../../policy/language/language.ts';
import { kindOf, withoutVersion } from '../../lib/text/activity-types.ts';
import { limits } from '../shared/limits.ts';
import { policyDraft, policyField } from './policy-parameters.ts';
import { shownForm } from './policy-forms.ts';
import { spendersOf, widensSpender } from './policy-reach.ts';
import { assetsOfNetworks } from '../../chains/ethereum/assets.ts';
import { isForAnyUser } from '../../policy/analysis/for-any-user.ts';
import { readForm } from '../../policy/analysis/read-form.ts';
import { defined } from '../../lib/defined.ts';

const policyDrafts = z.array(policyDraft).min(1).max(limits.batch);

/** Offsets of UTF-16 units in the field, the end exclusive. */
const span = { from: z.int(), to: z.int() };

const shownCheck = z
  .object({
    policyName: z.string().optional(),
    problems: z.array(
      z.object({
        field: policyField,
        message: z.string(),
        ...span,
        line: z.int(),
        column: z.int(),
        expected: z.string(),
      }),
    ),
    warnings: z.array(
      z.object({
        field: policyField.optional(),
        message: z.string(),
        from: z.int().optional(),
        to: z.int().optional(),
      }),
    ),
    /** All that the policy says, as a form; absent where no form says all of it. */
    form: shownForm.optional(),
    /** True where any user may use the policy, also one without tags. */
    forAnyUser: z.boolean(),
    /** Users of bots whose budgets the policy may go beyond. */
    widensBots: z.array(z.string()),
  })
  .meta({ id: 'PolicyCheck' });

export const checkPolicies = query({
  path: 'check_policies',
  summary: 'Tells what is wrong with drafts of policies, and what is right but surely not meant.',
  own: true,
  params: z.object({ policies: policyDrafts }),
  returns: z.object({ policyChecks: z.array(shownCheck) }),
  *run({ tx, organizationId, params: { policies }, operations }) {
    const known = knownTo(tx, organizationId, operations);
    const policyChecks: Shown<z.output<typeof shownCheck>>[] = [];
    const spenders = spendersOf(tx, organizationId);
    for (const draft of policies) {
      const problems = problemsOf(draft);
      yield;
      policyChecks.push({
        ...defined({ policyName: draft.policyName }),
        problems,
        warnings: problems.length > 0 ? [] : warningsOf(draft, known),
        ...defined({ form: readForm(draft) }),
        forAnyUser: isForAnyUser(draft),
        widensBots: spenders.filter((spender) => widensSpender(spender, draft)).map(({ userId }) => userId),
      });
      yield;
    }
    return { policyChecks };
  },
});

const namedTypes = z.array(z.object({ name: z.string(), type: z.string() }));

const shownLanguage = z
  .object({
    places: z.array(
      z.object({
        field: policyField,
        keywords: namedTypes,
        functions: z.array(z.object({ name: z.string(), usage: z.string() })),
      }),
    ),
    types: z.array(z.object({ name: z.string(), fields: namedTypes })),
    methods: z.array(z.object({ name: z.string(), usage: z.string(), about: z.string() })),
    /** Values of `activity.kind` and similar facts. */
    texts: z.array(z.object({ of: z.string(), values: z.array(z.string()) })),
    /** Coins and tokens whose payments a condition can bound in units that people know. */
    assets: z.array(
      z.object({
        chainId: z.string(),
        network: z.string(),
        symbol: z.string(),
        decimals: z.int(),
        token: z.string().nullable(),
        /** False where the chain charges more than a transaction says, so that no limit of the coin holds. */
        exactFees: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'PolicyLanguage' });

export const getPolicyLanguage = query({
  path: 'get_policy_language',
  summary: 'Describes the policy language: its keywords, their types, its functions and methods.',
  own: true,
  params: z.object({}),
  returns: z.object({ policyLanguage: shownLanguage }),
  run: ({ operations }) => ({
    policyLanguage: {
      ...describeLanguage(),
      texts: [...textsOf(operations)].map(([of, values]) => ({ of, values })),
      assets: assetsOfNetworks(),
    },
  }),
});

function knownTo(tx: Reader, organizationId: string, operations: Operations): Known {
  let ids: ReadonlySet<string> | undefined;
  return {
    texts: textsOf(operations),
    newestType: newestTypeOf(operations),
    hasId(wanted) {
      ids ??= new Set([
        organizationId,
        ...[
          ...listUserRows(tx, organizationId),
          ...listTagRows(tx, organizationId, 'TAG_TYPE_USER'),
          ...listTagRows(tx, organizationId, 'TAG_TYPE_PRIVATE_KEY'),
          ...listWalletRows(tx, organizationId),
          ...listPrivateKeyRows(tx, organizationId),
          ...listPolicyRows(tx, organizationId),
        ].map((row) => row.id),
      ]);
      return ids.has(wanted);
    },
    hasAccount: (address) =>
      spellingsOf(address).some((each) => findAccountByAddress(tx, organizationId, each) !== undefined),
  };
}

/** As a policy compares it, and as accounts of Ethereum have it. */
const spellingsOf = (address: string): readonly string[] => [
  address,
  writtenAddress(address),
  ...(/^0x[0-9a-f]{40}$/i.test(address)
    ? [checksumAddress(readEthereumAddress('address', address.toLowerCase()))]
    : []),
];

function newestTypeOf(operations: Operations): Known['newestType'] {
  const newest = new Map(
    [...operations.byPath.values()].flatMap((operation) => {
      const type = operation.kind === 'activity' ? operation.versions[0]?.type : undefined;
      return type === undefined ? [] : [[withoutVersion(type), type] as const];
    }),
  );
  return (type) => newest.get(withoutVersion(type));
}

/** By what is compared, all that it can be. */
function textsOf(operations: Operations): Map<string, readonly string[]> {
  const types = [...operations.byPath.values()].flatMap((operation) =>
    operation.kind === 'activity' ? operation.versions.map(({ type }) => type) : [],
  );
  return new Map<string, readonly string[]>([
    ['activity.type', [...new Set(types)].sort()],
    ['activity.kind', [...new Set(types.map(kindOf))].sort()],
    ['activity.resource', resources],
    ['activity.action', actions],
  ]);
}

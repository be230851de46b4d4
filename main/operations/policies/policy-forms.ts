/** Forms of policies, as the API shows them. */
import { z } from 'zod';
import { budgetHolders, type BudgetHolder, type PolicyForm } from '../../lib/policies/policy-form.ts';
import { effects } from '../../policy/decide/policies.ts';

const people = z.union([
  z.object({ kind: z.literal('users'), ids: z.array(z.string()) }),
  z.object({ kind: z.literal('tag'), id: z.string() }),
]);
const by = z.array(z.enum(Object.keys(budgetHolders) as [BudgetHolder, ...BudgetHolder[]]));
const limit = z.object({ amount: z.string(), window: z.string().nullable(), by });
const texts = z.array(z.string()).nullable();

/** Each field that is null restricts nothing. */
export const shownForm = z
  .object({
    effect: z.enum(effects),
    requesters: people.nullable(),
    agreements: z.array(
      z.object({ count: z.int(), of: z.union([people, z.object({ kind: z.literal('anyone') })]) }),
    ),
    deeds: z.object({ actions: texts, resources: texts, kinds: texts, untagged: z.boolean() }),
    keys: z.union([
      z.object({ kind: z.literal('any') }),
      z.object({ kind: z.literal('wallets'), ids: z.array(z.string()) }),
      z.object({ kind: z.literal('privateKeys'), ids: z.array(z.string()) }),
      z.object({ kind: z.literal('privateKeyTag'), id: z.string() }),
    ]),
    payment: z
      .object({
        chainId: z.string(),
        token: z.string().nullable(),
        receivers: texts,
        limits: z.array(limit),
        fees: z.array(limit),
      })
      .nullable(),
    signatures: z.object({ count: z.string(), window: z.string(), by }).nullable(),
    hours: z
      .object({ days: z.string(), hour: z.int(), minute: z.int(), length: z.string(), zone: z.string() })
      .nullable(),
  })
  .meta({ id: 'PolicyForm' }) satisfies z.ZodType<PolicyForm>;

/** `keyhearth policies`: the policies in force, new ones, and their end. */
import { z } from 'zod';
import type { Config } from '../../app/config.ts';
import { defined } from '../../lib/defined.ts';
import { count } from '../backup/backup.ts';
import { agreeToDelete } from '../requests/agree.ts';
import type { ApiOptions } from '../shared/options.ts';
import { VaultApi, activityKind } from '../shared/api.ts';
import { listings, type PolicyItem } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { fields, table, type Cell, type Table } from '../shared/table.ts';
import { calledIn, readPolicyFile, type PolicyInFile } from './policy-file.ts';

export interface CreatePolicyOptions extends ApiOptions {
  readonly name?: string;
  readonly effect?: 'allow' | 'deny';
  readonly condition?: string;
  readonly consensus?: string;
  readonly time?: string;
  readonly notes?: string;
}

export const createPoliciesActivity = activityKind({
  type: 'ACTIVITY_TYPE_CREATE_POLICIES',
  result: z.object({ policyIds: z.array(z.string()) }),
  isOfUseLater: true,
});

export const deletePoliciesActivity = activityKind({
  type: 'ACTIVITY_TYPE_DELETE_POLICIES',
  result: z.object({ policyIds: z.array(z.string()) }),
  isOfUseLater: true,
});

export async function listPolicies(config: Config, { apiKey, json }: ApiOptions): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const policies = await listings.policy.all(api);
  print(
    json,
    { policies },
    policies.length === 0
      ? 'No policies. Without one, only the root quorum may act. Create one with: keyhearth policies create FILE'
      : table(
          ['ID', 'Effect', 'Name'],
          policies.map(({ policyId, policyName, effect }) => [policyId, effectCell(effect), policyName]),
        ),
  );
}

const effectCell = (effect: string): Cell => ({
  text: effect.replace('EFFECT_', '').toLowerCase(),
  tone: effect === 'EFFECT_DENY' ? 'bad' : 'good',
});

/** @param wanted The policy's id, how it begins, or the name. */
export async function showPolicy(
  config: Config,
  wanted: string,
  { apiKey, json }: ApiOptions,
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const policy = await listings.policy.find(api, wanted);
  print(json, policy, policyFields(policy));
}

const policyFields = ({
  policyId,
  policyName,
  effect,
  condition,
  consensus,
  time = '',
  notes,
}: PolicyItem): Table =>
  fields([
    ['Policy', policyName],
    ['ID', policyId],
    ['Effect', effectCell(effect)],
    ...linesOf('Condition', condition),
    ...linesOf('Consensus', consensus),
    ...linesOf('Time', time),
    ...linesOf('Notes', notes),
  ]);

/** Expressions may have several lines. */
const linesOf = (label: string, text: string): readonly (readonly [string, string])[] =>
  text.split('\n').map((line, index) => [index === 0 ? label : '', line] as const);

/** Of the one policy that the options say. */
const optionsOfDraft: Readonly<Record<string, string>> = {
  'parameters.policies[0].policyName': '--name',
  'parameters.policies[0].': '--',
};

/** @param file Of policies, as `policies check` reads it; undefined where the options say it. */
export async function createPolicies(
  config: Config,
  file: string | undefined,
  options: CreatePolicyOptions,
): Promise<void> {
  const drafts = file === undefined ? [fromOptions(options)] : fromFile(file, options);
  const policies = drafts.map((draft, index) => {
    const { policyName, policyId: _, notes = '', ...rest } = draft;
    if (policyName !== undefined) return { policyName, notes, ...rest };
    throw new CommandError(exitCodes.usage, `${calledIn(draft, index)} has no policyName`);
  });
  const api = await VaultApi.connect(config, options.apiKey);
  const kind = { ...createPoliciesActivity, options: file === undefined ? optionsOfDraft : {} };
  const { policyIds } = await api.submit(kind, { policies });
  const made = policies.map(({ policyName }, index) => ({ policyId: policyIds[index] ?? '', policyName }));
  print(
    options.json,
    { policies: made },
    table(
      ['ID', 'Name'],
      made.map(({ policyId, policyName }) => [policyId, policyName]),
    ),
  );
}

function fromFile(file: string, options: CreatePolicyOptions): readonly PolicyInFile[] {
  const { name, effect, condition, consensus, time, notes } = options;
  const given = Object.keys(defined({ name, effect, condition, consensus, time, notes }));
  if (given.length === 0) return readPolicyFile(file);
  throw new CommandError(exitCodes.usage, `expected either a file or --${given.join(', --')}`);
}

function fromOptions({ name, effect, condition, consensus, time, notes }: CreatePolicyOptions): PolicyInFile {
  if (name === undefined || effect === undefined) {
    throw new CommandError(exitCodes.usage, 'expected a file of policies, or --name and --effect');
  }
  return {
    policyName: name,
    effect: effect === 'allow' ? 'EFFECT_ALLOW' : 'EFFECT_DENY',
    ...defined({ condition, consensus, time, notes }),
  };
}

export async function deletePolicies(
  config: Config,
  wanted: readonly string[],
  { apiKey, json, yes }: ApiOptions & { readonly yes?: boolean },
): Promise<void> {
  const api = await VaultApi.connect(config, apiKey);
  const deleted = await listings.policy.findEach(api, wanted);
  await agreeToDelete(deleted.map(({ policyName }) => JSON.stringify(policyName)).join(', '), yes);
  const policyIds = deleted.map(({ policyId }) => policyId);
  await api.submit(deletePoliciesActivity, { policyIds });
  print(json, { policyIds }, `Deleted ${count(policyIds.length, 'policy', 'policies')}.`);
}

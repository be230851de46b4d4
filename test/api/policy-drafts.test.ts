/** Drafts of policies, through the port. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkerOf } from '../support/api-document.ts';
import type { Checker } from '../support/api-document.ts';
import { send, startTestVault } from '../support/support.ts';
import type { Json, TestVault } from '../support/support.ts';

let service: TestVault;
let checker: Checker;

beforeAll(async () => {
  service = await startTestVault();
  const { body } = await send(service.url, { method: 'GET', path: '/openapi.json' });
  checker = checkerOf(body ?? {});
});
afterAll(() => service[Symbol.asyncDispose]());

/** Asks, and holds the answer against the API's description. */
async function ask<Answer>(operation: string, parameters: Json = {}): Promise<Answer> {
  const { status, body, text } = await service.root.query(operation, parameters);
  expect(status, text).toBe(200);
  expect(checker.answer(`query/${operation}`, 200, body)).toEqual([]);
  return body as Answer;
}

interface Checks {
  readonly policyChecks: readonly {
    readonly policyName?: string;
    readonly problems: readonly Json[];
    readonly warnings: readonly { readonly field?: string; readonly message: string }[];
  }[];
}

describe('check_policies', () => {
  test('tells every problem of every draft, and warns of what this organization has not', async () => {
    const { policyChecks } = await ask<Checks>('check_policies', {
      policies: [
        {
          policyName: 'Wrong twice',
          effect: 'EFFECT_ALLOW',
          condition: 'eth.tx.valu < 5',
          consensus: 'approvers.count()',
        },
        {
          effect: 'EFFECT_DENY',
          condition: "activity.kind == 'SIGN_RAW_PAYLOD'",
          consensus: `approvers.any(user, user.id in ['${service.rootUserId}', '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70'])`,
        },
        { effect: 'EFFECT_ALLOW', condition: "activity.type == 'ACTIVITY_TYPE_CREATE_WALLET'", time: null },
      ],
    });
    expect(policyChecks).toMatchObject([
      { policyName: 'Wrong twice', problems: [{ field: 'condition', column: 8 }, { field: 'consensus' }] },
      {
        problems: [],
        warnings: [
          { message: expect.stringContaining("did you mean 'SIGN_RAW_PAYLOAD'?") as string },
          { message: "Nothing in this organization has the id '8f14e45f-ceea-467f-9c4b-3d1b2a5e6f70'." },
        ],
      },
      { problems: [], warnings: [] },
    ]);
  });
});

test('get_policy_language describes what may be written', async () => {
  const { policyLanguage } = await ask<{ policyLanguage: { texts: unknown; types: unknown } }>(
    'get_policy_language',
  );
  expect(policyLanguage.texts).toContainEqual({
    of: 'activity.kind',
    values: expect.arrayContaining(['CREATE_WALLET', 'SIGN_RAW_PAYLOAD']) as string[],
  });
  expect(policyLanguage.types).toContainEqual({
    name: 'Wallet',
    fields: expect.arrayContaining([{ name: 'exported', type: 'bool' }]) as object[],
  });
});

/** `keyhearth policy` as a script runs it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calledFunctions } from '../../main/policy/language/functions.ts';
import { activityOf, newWallet, runCommand, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { Json, TestVault } from '../support/support.ts';

const papers = temporaryDirectory();
let service: TestVault;
let signed: string;
let request: Json;

beforeAll(async () => {
  service = await startTestVault();
  const { keysDirectory } = service.config;
  mkdirSync(keysDirectory, { recursive: true });
  writeFileSync(join(keysDirectory, 'owner.public'), service.key.publicKey);
  writeFileSync(join(keysDirectory, 'owner.private'), service.key.privateKey, { mode: 0o600 });
  const { ethereum } = await newWallet(service.root);
  request = {
    signWith: ethereum,
    payload: 'hello',
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  };
  signed = activityOf(await service.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', request)).id;
});
afterAll(async () => {
  papers[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

function file(name: string, content: unknown): string {
  const path = join(papers.path, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const environment = () => ({
  HOME: papers.path,
  KEYHEARTH_DATA_DIR: service.directory,
  KEYHEARTH_CONFIG_DIR: join(dirname(service.directory), 'config'),
});

const run = (argv: readonly string[], input = '') =>
  runCommand(['policy', ...argv], { input, environment: environment() });

const signing = {
  policyName: 'Sign',
  effect: 'EFFECT_ALLOW',
  condition: "activity.action == 'SIGN' && wallet.label == 'None such'",
};

describe('policy check', () => {
  test('points at what is wrong, and fails', async () => {
    const wrong = {
      policies: [signing, { policyName: 'Pay', effect: 'EFFECT_DENY', condition: 'eth.tx.valu > 5' }],
    };
    const { code, stdout } = await run(['check', file('wrong.json', wrong)]);
    expect(code).toBe(1);
    const [right, wrongly, ...pointed] = stdout.split('\n');
    expect(right).toBe('“Sign”: OK');
    expect(wrongly).toMatch(/^“Pay”: condition, line 1, column 8: expected a field of EthereumTransaction/);
    expect(pointed).toEqual(['    eth.tx.valu > 5', '           ^^^^', '']);
    expect(stdout).toContain('did you mean value?');
  });

  test('takes one policy from standard input, without a vault, and answers JSON', async () => {
    const { code, stdout } = await run(['check', '-', '--json'], JSON.stringify({ effect: 'EFFECT_ALLOW' }));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      policies: [
        { problems: [], warnings: [{ message: expect.stringContaining('every user everything') as string }] },
      ],
    });
  });

  test('takes policies as the vault lists them', async () => {
    const { policyName, effect, condition } = signing;
    const [createdAt, updatedAt] = [{ seconds: '1', nanos: '0' }, null];
    const listed = { policyId: 'id', policyName, effect, condition, consensus: '', createdAt, updatedAt };
    const { code, stdout } = await run(['check', file('listed.json', { policies: [listed] })]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '“Sign”: OK\n' });
  });

  test.each([
    ['{', /is not JSON: expected a policy/],
    ['[]', /has no policy/],
    ['[{"effect":"EFFECT_MAYBE"}]', /0\.effect: expected one of EFFECT_ALLOW, EFFECT_DENY/],
    ['"x"', /expected a policy/],
    // A policy without a part of it is another: a misspelled condition would be none.
    ['[{"effect":"EFFECT_ALLOW","Condition":"false"}]', /0: unrecognized key: "Condition"/],
    ['{"effect":"EFFECT_ALLOW","concensus":"approvers.count() >= 2"}', /odd\.json: unrecognized key/],
    ['{"policies":[{"effect":"EFFECT_ALLOW"}],"condition":"false"}', /unrecognized key: "condition"/],
    ['{"effect":"EFFECT_ALLOW","condition":"false","condition":"true"}', /a name twice/],
  ])('refuses a file that holds %s', async (text, message) => {
    const { code, stderr } = await run(['check', file('odd.json', text)]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe('a file whose bytes are not UTF-8', () => {
  // As an editor in Latin-1 writes it. Read leniently, the name would be another, and the rule would hold for no user.
  const path = join(papers.path, 'latin1.json');
  const policy = { policyName: 'Not he', effect: 'EFFECT_DENY', condition: "user.alias == 'Jörg'" };

  test.each([
    ['policies', ['policy', 'check', path]],
    ['policies to add', ['policy', 'explain', '--body', '-', '--with', path]],
    ['a request to explain', ['policy', 'explain', '--body', path]],
    ['a request to send', ['request', '--path', '/public/v1/submit/create_policy', '--body', `@${path}`]],
    ['a request to stamp', ['stamp', '--body', `@${path}`]],
  ])('is not read as %s', async (_what, argv) => {
    writeFileSync(path, Buffer.from(JSON.stringify(policy), 'latin1'));
    const { code, stdout, stderr } = await runCommand(argv, { input: '{}', environment: environment() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('latin1.json is not text in UTF-8');
  });
});

describe('policy test', () => {
  test('tells what would be otherwise, by which rule, and what never holds', async () => {
    const drafts = [
      { ...signing, condition: "activity.action == 'SIGN'" },
      { ...signing, policyName: 'Never' },
    ];
    const { code, stdout } = await run([
      'test',
      file('drafts.json', drafts),
      '--without-root',
      '--against',
      'last:10',
    ]);
    expect(code).toBe(0);
    const lines = stdout.split('\n');
    expect(lines[0]).toBe(
      'Tested 2 activities: 0 newly denied, 1 newly allowed, 0 newly in need of approvals.',
    );
    expect(lines[2]).toMatch(
      new RegExp(`^allowed +denied +“Sign” +20.+Z {2}SIGN_RAW_PAYLOAD_V2 {2}${signed}$`),
    );
    expect(lines.slice(3)).toEqual([
      'draft “Sign”: matched 1 of 2 activities and decided 1',
      'draft “Never”: matched no activity',
      "  never true: wallet.label == 'None such'",
      '',
    ]);
  });

  test('says what the root quorum decided', async () => {
    const { stdout } = await run(['test', file('one.json', signing)]);
    expect(stdout).toMatch(/The root quorum decided 2 of them, .* give --without-root\./);
  });

  test('refuses a window that is none', async () => {
    const { code, stderr } = await run(['test', file('one.json', signing), '--against', 'yesterday']);
    expect(code).toBe(2);
    expect(stderr).toContain('invalid --against "yesterday": expected last:1 to last:1000');
  });
});

describe('policy explain', () => {
  test('shows what each part of a past activity came to', async () => {
    const { code, stdout } = await run([
      'explain',
      signed,
      '--without-root',
      '--with',
      file('one.json', signing),
    ]);
    expect(code).toBe(0);
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      'denied: no policy allows it',
      'draft “Sign” (allow): does not apply',
      '  condition: false',
      "    activity.action == 'SIGN' && wallet.label == 'None such' = false",
      "    activity.action == 'SIGN' = true",
    ]);
  });

  test('decides a hypothetical request', async () => {
    const body = { type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', parameters: request };
    const { code, stdout } = await run(['explain', '--body', file('body.json', body), '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'OUTCOME_ALLOW', decidedBy: 'DECIDER_ROOT_QUORUM' });
  });

  test('wants one of them', async () => {
    const { code, stderr } = await run(['explain']);
    expect(code).toBe(2);
    expect(stderr).toContain('expected an activity, or --body');
  });
});

describe('request --dry-run', () => {
  const dryRun = (path: string, body: Json) =>
    runCommand(['request', '--dry-run', '--path', path, '--body', '-', '--json'], {
      input: JSON.stringify(body),
      environment: environment(),
    });

  test('asks about the request that it would send, and sends it not', async () => {
    const count = async () =>
      ((await service.root.query('list_activities')).body as { activities: Json[] }).activities.length;
    const before = await count();
    const { code, stdout } = await dryRun('/public/v1/submit/sign_raw_payload', {
      type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
      parameters: request,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ policyExplanation: { outcome: 'OUTCOME_ALLOW' } });
    expect(await count()).toBe(before);
  });

  test('is not a success if policies allow an unreadable payload', async () => {
    const { code, stdout, stderr } = await dryRun('/public/v1/submit/sign_transaction', {
      type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
      parameters: {
        signWith: request['signWith'],
        type: 'TRANSACTION_TYPE_ETHEREUM',
        unsignedTransaction: '02c0ffee',
      },
    });
    expect(JSON.parse(stdout)).toMatchObject({ policyExplanation: { outcome: 'OUTCOME_ALLOW' } });
    expect(code).toBe(1);
    expect(stderr).toContain('the vault would not sign this, since it cannot read it: ');
  });

  test('refuses what only reads', async () => {
    const { code, stderr } = await dryRun('/public/v1/query/whoami', {});
    expect(code).toBe(2);
    expect(stderr).toContain('expected a path of /public/v1/submit/');
  });
});

describe('the page about policies', () => {
  const chapter = readFileSync(join(import.meta.dirname, '../../docs/policies.md'), 'utf8');

  test('shows policies that are accepted as they are', async () => {
    const policies = [...chapter.matchAll(/^```json [\w.]+\n(.*?)^```$/gms)].map(
      ([, text = '']) => JSON.parse(text) as Json,
    );
    expect(policies.length).toBeGreaterThan(2);
    const { code, stdout } = await run(['check', '-'], JSON.stringify({ policies }));
    expect(stdout.trim().split('\n')).toEqual(
      policies.map((policy) => `“${String(policy['policyName'])}”: OK`),
    );
    expect(code).toBe(0);
    const made = await service.root.submit('create_policies', 'CREATE_POLICIES', { policies });
    expect(made.status, made.text).toBe(200);
  });

  test('shows functions that there are', () => {
    for (const [, name] of chapter.matchAll(/^\| `(\w+)\(/gm)) {
      expect(calledFunctions.map((each) => each.name)).toContain(name);
    }
  });
});

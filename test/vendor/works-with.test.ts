/**
 * The vendor's packages, unmodified, each as a program of its own against one vault. Those that are installed run here; the others
 * are installed from the registry by `npm run test:long`, and one that cannot be is a failure of its row.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { npmInstall } from '../support/npm-install.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import { send, startTestVault, temporaryDirectory } from '../support/support.ts';
import type { TestVault } from '../support/support.ts';
import { programs } from './works-with/checks.ts';
import type { Check } from './works-with/checks.ts';
import { nameOf, packagesOf, rows, stepsOf } from './works-with/matrix.ts';
import type { Row } from './works-with/matrix.ts';

const projectRoot = join(import.meta.dirname, '../..');
const directory = join(import.meta.dirname, 'works-with/programs');
const minute = 60_000;

let service: TestVault;
let signer: string;
const passkey = new SoftwareAuthenticator();

beforeAll(async () => {
  service = await startTestVault();
  const keys = await send(service.url, { method: 'GET', path: '/public/v1/discovery/keys' });
  signer = String(keys.body?.['signer']);
  await service.unlock();
  const authenticators = [passkey.params('Passkey')];
  const userId = service.rootUserId;
  const made = await service.root.submit('create_authenticators', 'CREATE_AUTHENTICATORS_V2', {
    userId,
    authenticators,
  });
  expect(made.status, made.text).toBe(200);
});
afterAll(() => service[Symbol.asyncDispose]());

/** A message of a program: an answer that it got, or bytes for its passkey to sign. */
type Message =
  | { readonly step: string; readonly value: unknown }
  | { readonly challenge: Uint8Array<ArrayBuffer> };

/** Runs a row's program, and checks each of its answers. */
async function run(row: Row, where: string): Promise<void> {
  const { program } = row;
  const child = fork(join(where, `${program}.mjs`), [], {
    cwd: where,
    // Without this process's own options: the program is a client's.
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {
      KEYHEARTH_URL: service.url,
      KEYHEARTH_ORGANIZATION: service.organizationId,
      KEYHEARTH_API_KEY: `${service.key.publicKey}:${service.key.privateKey}`,
      KEYHEARTH_SIGNER: signer,
    },
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const answers: (readonly [step: string, value: unknown])[] = [];
  child.on('message', (message: Message) => {
    if ('step' in message) answers.push([message.step, message.value]);
    else void answerWithPasskey(message.challenge).then((assertion) => child.send(assertion));
  });
  await once(child, 'close');
  expect(child.exitCode, errors).toBe(0);
  const checks: Readonly<Record<string, Check>> = programs[program];
  expect(answers.map(([step]) => step)).toEqual(stepsOf(row));
  for (const [step, value] of answers) await checks[step]?.(value as never, service.organizationId);
}

async function answerWithPasskey(challenge: Uint8Array<ArrayBuffer>): Promise<object> {
  const credential = await passkey.credentials.get({ publicKey: { challenge } });
  const { type, id, rawId, response } = credential as PublicKeyCredential;
  return { type, id, rawId, response };
}

const installedVersion = (name: string): unknown =>
  (
    JSON.parse(readFileSync(join(projectRoot, `node_modules/${name}/package.json`), 'utf8')) as {
      version: string;
    }
  ).version;

describe('installed', () => {
  test.each(rows.filter(({ installed }) => installed).map((row) => [nameOf(row), row] as const))(
    '%s',
    async (_name, row) => {
      expect(installedVersion(`@turnkey/${row.program}`)).toBe(row.version);
      await run(row, directory);
    },
  );
});

if (inject('campaigns') === 'full') {
  describe('from the registry', () => {
    test.each(rows.filter(({ installed }) => !installed).map((row) => [nameOf(row), row] as const))(
      '%s',
      async (_name, row) => {
        using where = temporaryDirectory();
        npmInstall(where.path, packagesOf(row));
        cpSync(directory, where.path, { recursive: true });
        await run(row, where.path);
      },
      10 * minute,
    );
  });
}

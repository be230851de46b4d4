/** The promises of `preload/contract.ts` to a window, over every kind of connection. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { encryptWalletToBundle } from '@turnkey/crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { stepUpRequired } from '../../preload/contract.ts';
import type { WindowRpc, CreateVault, UnlockWith, VaultRpc, VaultEvent } from '../../preload/contract.ts';
import { temporaryDirectory } from '../support/support.ts';

export interface OpenRpc extends AsyncDisposable {
  /** Clipboard and screen belong to the window's side, and are not crossed; files are looked at for each by itself. */
  readonly rpc: VaultRpc;
}

const password = 'correct horse battery staple';

/** The base point of P-256: a public key like any other. */
const generator = {
  x: '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
  y: '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
};

/** An error with a message for a person, under the contract's name. */
const refusal = (message: string | RegExp): unknown =>
  expect.objectContaining({
    name: 'RpcError',
    message: typeof message === 'string' ? message : (expect.stringMatching(message) as unknown),
  });

const confirm = (phrase: string, positions: readonly number[]): CreateVault['confirmedWords'] => {
  const words = phrase.split(' ');
  return positions.map((position) => ({ position, word: words[position - 1] ?? '' }));
};

const newVault = (phrase: string, more: Partial<CreateVault> = {}): CreateVault => ({
  organizationName: 'Home',
  userName: 'Ada',
  useKeychain: false,
  password,
  confirmedWords: confirm(phrase, [3, 11, 24]),
  ...more,
});

/**
 * Runs the contract.
 * @param openRpc Opens the transport to a new vault that is not made yet and has no keychain.
 */
export function describeRpc(name: string, openRpc: () => Promise<OpenRpc>): void {
  describe(`the rpc over ${name}`, () => {
    describe('before there is a vault', () => {
      let opened: OpenRpc;
      let rpc: OpenRpc['rpc'];

      beforeAll(async () => {
        opened = await openRpc();
        ({ rpc } = opened);
      });
      afterAll(() => opened[Symbol.asyncDispose]());

      test('status says that there is none, and why there is no keychain', async () => {
        expect(await rpc.status()).toEqual({
          state: 'none',
          frozen: null,
          version: expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
          url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as unknown,
          rpId: 'localhost',
          directory: expect.any(String) as unknown,
          program: [expect.any(String) as unknown, expect.any(String) as unknown],
          organization: null,
          owner: null,
          keyslots: [],
          keychain: { available: false, reason: expect.stringMatching(/./) as unknown, off: true },
          delayed: null,
          windowKey: null,
          serverKeys: null,
          unlocking: null,
          tampering: null,
          storage: null,
          wordsNotShown: false,
          longestTurn: null,
        });
      });

      test.each<[string, (rpc: OpenRpc['rpc']) => Promise<unknown>]>([
        ['lock', (rpc) => rpc.lock()],
        ['freeze', (rpc) => rpc.freeze()],
        ['unlock', (rpc) => rpc.unlock({ with: 'password', password })],
        ['call', (rpc) => rpc.call('/public/v1/query/whoami', {})],
        ['logState', (rpc) => rpc.logState()],
        ['checkLog', (rpc) => rpc.checkLog()],
        ['exportLog', (rpc) => rpc.exportLog()],
        ['backUp', (rpc) => rpc.backUp({ file: '/nowhere/x.backup' })],
        ['scheduleBackups', (rpc) => rpc.scheduleBackups(null)],
        ['changeSettings', (rpc) => rpc.changeSettings({ network: false })],
        ['doors', (rpc) => rpc.doors()],
        ['changeDoors', (rpc) => rpc.changeDoors({ change: 'switch', door: 'ssh', on: true })],
      ])('%s says what to do', async (_call, ask) => {
        await expect(ask(rpc)).rejects.toEqual(
          refusal('there is no vault yet: create one in the window or with `keyhearth init`'),
        );
      });

      test('there are no backups, and nothing to say of them', async () => {
        expect(await rpc.backups()).toMatchObject({
          available: true,
          backups: [],
          schedule: null,
          notices: [],
          running: null,
        });
      });

      test('a backup that is not there is not restored, and another can be tried', async () => {
        const secret = { with: 'password', password } as const;
        for (const file of ['/nowhere/x.backup', '/nowhere/y.backup']) {
          await expect(rpc.restore({ file, secret })).rejects.toEqual(refusal(new RegExp(file)));
        }
        await expect(rpc.restore({ file: '', secret })).rejects.toEqual(refusal(/^invalid restore\.file/));
        expect((await rpc.status()).state).toBe('none');
      });

      test('create wants a phrase to be drawn first', async () => {
        await expect(rpc.create(newVault('abandon '.repeat(24)))).rejects.toEqual(
          refusal('no recovery phrase was generated: request one, write it down, then create the vault'),
        );
      });

      test('a phrase has 24 words, and is drawn anew each time', async () => {
        const phrases = [await rpc.newRecoveryPhrase(), await rpc.newRecoveryPhrase()];
        for (const { phrase } of phrases) expect(phrase).toMatch(/^([a-z]+ ){23}[a-z]+$/);
        expect(phrases[0]).not.toEqual(phrases[1]);
      });

      test.each<[string, (phrase: string) => CreateVault, RegExp]>([
        [
          'no password',
          (phrase) => ({ ...newVault(phrase), password: undefined as never }),
          /^missing field vault\.password/,
        ],
        [
          'a password of seven characters',
          (phrase) => newVault(phrase, { password: 'seven77' }),
          /expected 8 to 1024 characters, got 7$/,
        ],
        ['a keychain that is not there', (phrase) => newVault(phrase, { useKeychain: true }), /./],
        [
          'two words',
          (phrase) => newVault(phrase, { confirmedWords: confirm(phrase, [1, 2]) }),
          /^invalid vault\.confirmedWords: expected at least 3 elements/,
        ],
        [
          'one word three times',
          (phrase) => newVault(phrase, { confirmedWords: confirm(phrase, [1, 1, 1]) }),
          /expected three different positions at least$/,
        ],
        [
          'a word that is another’s',
          (phrase) =>
            newVault(phrase, {
              confirmedWords: [...confirm(phrase, [1, 2]), { position: 7, word: 'keyhearth' }],
            }),
          /^word 7 is not the one of the recovery phrase$/,
        ],
        [
          'a position that is none',
          (phrase) =>
            newVault(phrase, { confirmedWords: [...confirm(phrase, [1, 2]), { position: 25, word: 'x' }] }),
          /^invalid vault\.confirmedWords\[2\]\.position: expected at most 24/,
        ],
        [
          'no name',
          (phrase) => newVault(phrase, { userName: '  ' }),
          /^invalid vault\.userName: expected at least 1 character/,
        ],
        [
          'an address that is none',
          (phrase) => newVault(phrase, { userEmail: 'nobody' }),
          /^invalid vault\.userEmail: expected an email address/,
        ],
      ])('create with %s is refused by name, and makes nothing', async (_what, make, message) => {
        const { phrase } = await rpc.newRecoveryPhrase();
        const refused = rpc.create(make(phrase));
        await expect(refused).rejects.toEqual(refusal(message));
        const error = await refused.catch((thrown: unknown) => thrown);
        for (const word of phrase.split(' ')) expect(String(error).split(/\W+/)).not.toContain(`"${word}"`);
        expect((await rpc.status()).state).toBe('none');
      });

      test('create with the words of an older drawing is refused', async () => {
        const { phrase } = await rpc.newRecoveryPhrase();
        await rpc.newRecoveryPhrase();
        await expect(rpc.create(newVault(phrase))).rejects.toEqual(
          refusal(/^word \d+ is not the one of the recovery phrase$/),
        );
      });
    });

    describe('making a vault', () => {
      test('leaves it unlocked, once, and any of its secrets opens it again', async () => {
        await using opened = await openRpc();
        const { rpc } = opened;
        const { phrase } = await rpc.newRecoveryPhrase();
        const made = await rpc.create(newVault(phrase, { userEmail: 'ada@example.com' }));
        expect(made).toMatchObject({
          state: 'unlocked',
          organization: { name: 'Home' },
          owner: { userName: 'Ada' },
          keyslots: expect.arrayContaining(['password', 'recovery']) as unknown,
          windowKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/) as unknown,
          serverKeys: {
            signer: expect.stringMatching(/^04[0-9a-f]{128}$/) as unknown,
            notarizer: expect.stringMatching(/^04[0-9a-f]{128}$/) as unknown,
            tlsFetcher: expect.stringMatching(/^04[0-9a-f]{128}$/) as unknown,
          },
        });
        // A later turn may be longer.
        const same = { ...made, longestTurn: expect.anything() as unknown };
        expect(await rpc.status()).toEqual(same);

        const exists = refusal('there is a vault here already: it is not overwritten');
        await expect(rpc.create(newVault(phrase))).rejects.toEqual(exists);
        await expect(
          rpc.restore({ file: '/nowhere/x.backup', secret: { with: 'password', password } }),
        ).rejects.toEqual(exists);
        await rpc.lock();
        await expect(rpc.newRecoveryPhrase()).rejects.toEqual(exists);
        await rpc.unlock({ with: 'password', password });
        expect(await rpc.status()).toEqual(same);

        const keys: UnlockWith[] = [
          { with: 'password', password },
          { with: 'recovery', phrase },
          { with: 'recovery', phrase: `  ${phrase.toUpperCase().replaceAll(' ', '\n')} ` },
        ];
        for (const key of keys) {
          expect(await rpc.lock()).toEqual({ ...same, state: 'locked' });
          expect(await rpc.unlock(key)).toEqual(same);
        }
        // Unlocking what is unlocked checks what it is given all the same.
        await expect(rpc.unlock({ with: 'password', password: 'not the one' })).rejects.toEqual(
          refusal('The password does not open this vault.'),
        );
        expect((await rpc.status()).state).toBe('unlocked');
      });

      test('twice at once makes one vault, and leaves it unlocked', async () => {
        await using opened = await openRpc();
        const { rpc } = opened;
        const { phrase } = await rpc.newRecoveryPhrase();
        const both = await Promise.allSettled([
          rpc.create(newVault(phrase, { organizationName: 'One' })),
          rpc.create(newVault(phrase, { organizationName: 'Two' })),
        ]);
        expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        expect((await rpc.status()).state).toBe('unlocked');
        await rpc.lock();
        expect((await rpc.unlock({ with: 'password', password })).state).toBe('unlocked');
        expect(await rpc.call('/public/v1/query/whoami', {})).toMatchObject({ status: 200 });
      });

      test('that is refused can be tried again with the same phrase', async () => {
        await using opened = await openRpc();
        const { rpc } = opened;
        const { phrase } = await rpc.newRecoveryPhrase();
        await expect(rpc.create(newVault(phrase, { password: 'p'.repeat(1025) }))).rejects.toEqual(
          refusal(/expected 8 to 1024 characters, got 1025$/),
        );
        expect((await rpc.create(newVault(phrase))).state).toBe('unlocked');
      });

      test('takes words in any case, more of them than needed, and long passwords', async () => {
        await using opened = await openRpc();
        const { rpc } = opened;
        const { phrase } = await rpc.newRecoveryPhrase();
        const confirmedWords = confirm(
          phrase,
          Array.from({ length: 24 }, (_, index) => index + 1),
        ).map(({ position, word }) => ({ position, word: ` ${word.toUpperCase()} ` }));
        const long = '🔑'.repeat(1024);
        await rpc.create(newVault(phrase, { password: long, confirmedWords }));
        await rpc.lock();
        expect((await rpc.unlock({ with: 'password', password: long })).state).toBe('unlocked');
      });
    });

    describe('with a vault', () => {
      let opened: OpenRpc;
      let rpc: OpenRpc['rpc'];
      let heard: VaultEvent[];
      let stopListening: () => void;

      beforeAll(async () => {
        opened = await openRpc();
        ({ rpc } = opened);
        const { phrase } = await rpc.newRecoveryPhrase();
        await rpc.create(newVault(phrase));
        heard = [];
        stopListening = rpc.onEvent((event) => heard.push(event));
      });
      afterEach(async () => {
        if ((await rpc.status()).state === 'locked') await rpc.unlock({ with: 'password', password });
      });
      afterAll(async () => {
        stopListening();
        await opened[Symbol.asyncDispose]();
      });

      const createWallet = (walletName: string): ReturnType<WindowRpc['call']> =>
        rpc.call('/public/v1/submit/create_wallet', {
          type: 'ACTIVITY_TYPE_CREATE_WALLET',
          parameters: { walletName, accounts: [] },
        });

      /** Waits until no more events arrive: they follow a moment after their cause. */
      async function settle(): Promise<void> {
        for (let count = -1; count !== heard.length;) {
          count = heard.length;
          await wait(150);
        }
      }

      test('call asks as the owner, in the owner’s organization', async () => {
        const { organization, owner } = await rpc.status();
        expect(await rpc.call('/public/v1/query/whoami', {})).toMatchObject({
          status: 200,
          body: { organizationId: organization?.id, userId: owner?.userId, username: 'Ada' },
        });
        // Another organization than this one and those under it does not know the window's key.
        const other = { organizationId: '00000000-0000-4000-8000-000000000000' };
        expect(await rpc.call('/public/v1/query/whoami', other)).toMatchObject({ status: 401 });
      });

      test('call runs an activity, and two that look the same are two', async () => {
        const sign = (): ReturnType<WindowRpc['call']> =>
          rpc.call('/public/v1/submit/create_users', {
            type: 'ACTIVITY_TYPE_CREATE_USERS_V3',
            parameters: {
              users: [
                { userName: 'Twice', apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] },
              ],
            },
          });
        const [first, second] = await Promise.all([sign(), sign()]);
        expect([first.status, second.status].sort()).toEqual([200, 400]);
      });

      test('an operation that fails is an answer, not an error', async () => {
        expect(await createWallet('Here')).toMatchObject({ status: 200 });
        expect(await createWallet('Here')).toMatchObject({ status: 400, body: { code: 3 } });
        expect(await rpc.call('/public/v1/query/no_such_thing', {})).toMatchObject({
          status: 501,
          body: { code: 12 },
        });
        expect(await rpc.call('/public/v1/query/get_wallet', {})).toMatchObject({
          status: 400,
          body: { message: 'missing field walletId: expected a string' },
        });
      });

      test.each([
        '/window/status',
        'query/whoami',
        '/public/v1/query/../submit/x',
        '/public/v1/query/whoami?x',
        '/dev/reset',
      ])('call goes nowhere but to operations: %s', async (path) => {
        await expect(rpc.call(path, {})).rejects.toEqual(
          refusal(/^invalid path: expected a path like \/public\/v1\/query\/whoami, got "/),
        );
      });

      test('call takes an object for a body', async () => {
        await expect(rpc.call('/public/v1/query/whoami', 'text' as never)).rejects.toEqual(
          refusal(/^invalid body: expected a record, got "text"$/),
        );
      });

      test('the log is signed where that is asked for, checked, and exported in whole lines', async () => {
        expect(await createWallet('Logged')).toMatchObject({ status: 200 });
        const { serverKeys } = await rpc.status();
        const { rows, publicKey, witness } = await rpc.logState();
        expect(publicKey).toBe(serverKeys?.notarizer);
        expect(witness).toBeNull();
        const { head } = await rpc.logState(true);
        expect(head).toMatchObject({ sequence: rows, publicKey });
        expect(await rpc.logState()).toEqual({ rows, head, publicKey, witness });
        const { hash } = head ?? { hash: '' };
        expect(await rpc.checkLog()).toMatchObject({ rows, hash, signed: rows, findings: [], more: 0 });
        const { text, next } = await rpc.exportLog();
        expect(next).toBeNull();
        expect(text.endsWith('\n')).toBe(true);
        const [first, ...lines] = text.trimEnd().split('\n');
        expect(JSON.parse(first ?? '')).toMatchObject({ kind: 'log', rows, head: { sequence: rows, hash } });
        expect(lines.filter((line) => line.startsWith('{"kind":"activity"'))).toHaveLength(rows);
        const tail = await rpc.exportLog({ after: rows - 1, until: rows });
        expect(tail).toEqual({ text: `${lines.slice(-2).join('\n')}\n`, next: null });
      });

      test.each<[string, unknown]>([
        ['a text', 'all'],
        ['a range without an end', { after: 0 }],
        ['a row before the first', { after: -1, until: 1 }],
      ])('exportLog refuses %s by name', async (_what, range) => {
        await expect(rpc.exportLog(range as never)).rejects.toEqual(refusal(/range/));
      });

      test('keyslots are listed, changed by whoever shows a secret, and checked', async () => {
        const before = await rpc.keyslots();
        expect(before.keyslots.map(({ kind }) => kind)).toEqual(['recovery', 'password']);
        const { phrase } = await rpc.newRecoveryPhrase();
        const proof = { with: 'password', password } as const;
        const confirmedWords = confirm(phrase, [2, 12, 22]);
        await expect(
          rpc.changeKeyslots({
            do: 'addRecovery',
            proof: { with: 'password', password: 'incorrect horse' },
            confirmedWords,
          }),
        ).rejects.toEqual(refusal('The password does not open this vault.'));
        const after = await rpc.changeKeyslots({ do: 'addRecovery', proof, confirmedWords });
        expect(after.keyslots.slice(0, 2)).toEqual(before.keyslots);
        expect(after.keyslots[2]).toMatchObject({
          kind: 'recovery',
          confirmedAt: expect.any(Number) as unknown,
        });
        const sheets = await rpc.recoverySheet({ phrase, shares: { threshold: 2, count: 3 } });
        const shares = sheets.map(({ secret }) => (secret.kind === 'share' ? secret.text : ''));
        expect(await rpc.checkRecovery({ with: 'shares', shares: shares.slice(1) })).toMatchObject({
          vaultId: before.vaultId,
        });
        await expect(rpc.checkRecovery({ with: 'shares', shares: shares.slice(2) })).rejects.toEqual(
          refusal('invalid shares: 2 are needed, and here is one'),
        );
        await rpc.lock();
        expect((await rpc.unlock({ with: 'shares', shares: shares.slice(0, 2) })).state).toBe('unlocked');
        const keyslotId = after.keyslots[2]?.id ?? '';
        expect(await rpc.changeKeyslots({ do: 'remove', proof, keyslotId })).toEqual(before);
        await expect(rpc.changeKeyslots({ do: 'magic' } as never)).rejects.toEqual(
          refusal(/^invalid change\.do: expected one of addPassword, addKeychain, addRecovery/),
        );
      });

      test('a wallet’s addresses are shown before its import, and nothing is kept', async () => {
        const { owner, organization, serverKeys } = await rpc.status();
        const userId = owner?.userId ?? '';
        const submit = async (path: string, type: string, parameters: object) =>
          (await rpc.call(`/public/v1/submit/${path}`, { type: `ACTIVITY_TYPE_${type}`, parameters }))
            .body as {
            readonly activity: {
              readonly result: { readonly initImportWalletResult: { readonly importBundle: string } };
            };
          };
        const list = async () =>
          ((await rpc.call('/public/v1/query/list_wallets', {})).body as { readonly wallets: unknown })
            .wallets;
        const before = await list();
        const { activity } = await submit('init_import_wallet', 'INIT_IMPORT_WALLET', { userId });
        const encryptedBundle = await encryptWalletToBundle({
          mnemonic: 'test test test test test test test test test test test junk',
          importBundle: activity.result.initImportWalletResult.importBundle,
          userId,
          organizationId: organization?.id ?? '',
          dangerouslyOverrideSignerPublicKey: serverKeys?.signer ?? '',
        });
        const account = {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        };
        const wish = { encryptedBundle, accounts: [account] };
        const addresses = ['0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'];
        // The same key of the vault serves again, and the import after it.
        for (let round = 0; round < 2; round += 1)
          expect(await rpc.previewWallet(wish)).toEqual({ addresses });
        expect(await list()).toEqual(before);
        const changed = encryptedBundle.replace(/.{4}"\}$/, '0000"}');
        await expect(rpc.previewWallet({ ...wish, encryptedBundle: changed })).rejects.toEqual(
          refusal(/opens with none of this user's import bundles/),
        );
        await expect(rpc.previewWallet({ ...wish, encryptedBundle: 'test test junk' })).rejects.toEqual(
          refusal(/^invalid parameters\.encryptedBundle: (?!.*junk)/),
        );
        await expect(
          rpc.previewWallet({ ...wish, accounts: Array.from({ length: 51 }, () => account) }),
        ).rejects.toEqual(refusal(/accounts/));
        await rpc.lock();
        await expect(rpc.previewWallet(wish)).rejects.toEqual(refusal(/locked/));
        await rpc.unlock({ with: 'password', password });
      });

      test('a backup is made, told of, tried and listed', async () => {
        using place = temporaryDirectory();
        const file = join(place.path, 'b.backup');
        await settle();
        heard.length = 0;
        const made = await rpc.backUp({ file });
        expect(made).toMatchObject({ file, provenAt: null, problem: null, found: true });
        const looked = await rpc.lookAtBackup(file);
        expect(looked).toEqual({
          file,
          name: 'b.backup',
          madeAt: made.madeAt,
          size: made.size,
          opensWith: expect.arrayContaining(['password', 'recovery']) as unknown,
        });
        expect(await rpc.copyOfBackup(made.id)).toEqual({
          file,
          name: expect.stringMatching(/^keyhearth-Home-\d{4}-\d\d-\d\d-\d{4}\.backup$/) as unknown,
        });
        // A path is not a draft: it stays as it is.
        await rpc.releaseBackup(file);
        const { problemCount, recordedAt } = await rpc.verifyBackup({ file });
        expect(problemCount).toBe(0);
        expect((await rpc.backups()).backups).toEqual([{ ...made, provenAt: recordedAt }]);
        await vi.waitFor(() => {
          expect(heard).toContainEqual({ kind: 'backups' });
        });
        expect(heard.every(({ kind }) => kind === 'backups')).toBe(true);
        await settle();
        heard.length = 0;
      });

      test.each<[string, (rpc: OpenRpc['rpc']) => Promise<unknown>, RegExp]>([
        [
          'a backup to nowhere',
          (rpc) => rpc.backUp({ file: 5 } as never),
          /^invalid backup\.file: expected a string/,
        ],
        [
          'a backup of nothing',
          (rpc) => rpc.backUp(null as never),
          /^invalid backup: expected an object, got null$/,
        ],
        [
          'a backup with a keychain’s secret',
          (rpc) => rpc.verifyBackup({ file: '/x', secret: { with: 'keychain' } } as never),
          /^invalid backup\.secret\.with: expected one of password, recovery/,
        ],
        [
          'a file that is not there',
          (rpc) => rpc.verifyBackup({ file: '/no/such.backup' }),
          /^there is no file/,
        ],
        [
          'a schedule without hours',
          (rpc) => rpc.scheduleBackups({ directory: '/' } as never),
          /^missing field schedule\.hours/,
        ],
      ])('%s is refused by name', async (_what, ask, message) => {
        await expect(ask(rpc)).rejects.toEqual(refusal(message));
      });

      test('settings are the defaults at first, change by parts, and every window hears of it', async () => {
        const defaults = {
          autoLock: { idleMinutes: 10, requestsKeepOpen: true, onScreenLock: true, onSuspend: true },
          port: null,
          network: true,
          limits: 1,
          startAtLogin: null,
          updates: null,
          desktop: null,
        };
        expect(await rpc.settings()).toEqual(defaults);
        await settle();
        heard.length = 0;
        const changed = {
          ...defaults,
          autoLock: { ...defaults.autoLock, idleMinutes: null },
          network: false,
        };
        expect(await rpc.changeSettings({ autoLock: { idleMinutes: null }, network: false })).toEqual(
          changed,
        );
        expect(await rpc.settings()).toEqual(changed);
        expect(await rpc.changeSettings({ port: 7400 })).toEqual({ ...changed, port: 7400 });
        await settle();
        expect(heard).toEqual([{ kind: 'settings' }, { kind: 'settings' }]);
        await rpc.lock();
        expect(await rpc.settings()).toEqual({ ...changed, port: 7400 });
        await expect(rpc.changeSettings({ network: true })).rejects.toEqual(refusal(/^The vault is locked/));
        await rpc.unlock({ with: 'password', password });
        const { autoLock } = defaults;
        expect(await rpc.changeSettings({ autoLock, port: null, network: true })).toEqual(defaults);
        await settle();
        heard.length = 0;
      });

      test.each<[string, unknown, RegExp]>([
        ['no object', null, /^invalid settings: expected an object, got null$/],
        ['a field that is none', { netwrok: false }, /netwrok/],
        ['no time', { autoLock: { idleMinutes: 0 } }, /^invalid settings\.autoLock\.idleMinutes: .*1/],
        ['half a minute', { autoLock: { idleMinutes: 0.5 } }, /^invalid settings\.autoLock\.idleMinutes: /],
        ['a system’s port', { port: 80 }, /^invalid settings\.port: expected at least 1024/],
        ['a port that is none', { port: 70_000 }, /^invalid settings\.port: expected at most 65535/],
        ['a text for a switch', { network: 'off' }, /^invalid settings\.network: expected a boolean/],
        [
          'what only a desktop can',
          { startAtLogin: true },
          /^settings\.startAtLogin: this Keyhearth runs without/,
        ],
        ['updates without a shell', { updates: 'ask' }, /^settings\.updates: this Keyhearth runs without/],
      ])('changeSettings refuses %s by name', async (_what, change, message) => {
        await expect(rpc.changeSettings(change as never)).rejects.toEqual(refusal(message));
      });

      test('an export needs a secret of the owner’s just before it, each time; so does a way in, for a while', async () => {
        const made = await createWallet('Guarded');
        const { walletId } = (
          made.body as { activity: { result: { createWalletResult: { walletId: string } } } }
        ).activity.result.createWalletResult;
        const exported = [
          '/public/v1/submit/export_wallet',
          {
            type: 'ACTIVITY_TYPE_EXPORT_WALLET',
            parameters: { walletId, targetPublicKey: `04${generator.x}${generator.y}` },
          },
        ] as const;
        const exportIt = (): ReturnType<WindowRpc['call']> => rpc.call(...exported);
        const refusedFor = (message: RegExp) => ({
          status: 403,
          body: {
            code: 7,
            message: expect.stringMatching(message) as unknown,
            turnkeyErrorCode: stepUpRequired,
          },
        });
        const refused = refusedFor(/^an export needs the vault’s password/);
        const addUser = (userName: string): ReturnType<WindowRpc['call']> =>
          rpc.call('/public/v1/submit/create_users', {
            type: 'ACTIVITY_TYPE_CREATE_USERS_V3',
            parameters: {
              users: [
                {
                  userName,
                  userEmail: 'a@example.com',
                  apiKeys: [],
                  authenticators: [],
                  oauthProviders: [],
                  userTags: [],
                },
              ],
            },
          });
        const refusedUser = refusedFor(/^to add or widen a way to sign in needs the vault’s password/);
        expect(await exportIt()).toMatchObject(refused);
        await expect(rpc.prove({ with: 'password', password: 'incorrect horse' })).rejects.toEqual(
          refusal('The password does not open this vault.'),
        );
        await expect(rpc.prove({ with: 'keychain' } as never)).rejects.toEqual(
          refusal(/^invalid proof\.with: expected one of password, recovery, shares/),
        );
        expect(await exportIt()).toMatchObject(refused);
        const { until } = await rpc.prove({ with: 'password', password });
        expect(until - Date.now()).toBeGreaterThan(60_000);
        expect(until - Date.now()).toBeLessThan(121_000);
        expect(await exportIt()).toMatchObject({ status: 200 });
        expect(await exportIt()).toMatchObject(refused);
        expect(await addUser('Reachable')).toMatchObject(refusedUser);
        await rpc.prove({ with: 'password', password });
        expect(await addUser('Reachable')).toMatchObject({ status: 200 });
        expect(await exportIt()).toMatchObject(refused);
        expect(await addUser('Reachable too')).toMatchObject({ status: 200 });
        // A step-up can be reserved for a call to come, which alone gains by it.
        const reserve = () => rpc.reserveStepUp(...exported);
        expect(await reserve()).toMatchObject(refused);
        await rpc.prove({ with: 'password', password });
        expect(await reserve()).toEqual({ status: 200, body: {} });
        expect(await addUser('Reachable as well')).toMatchObject(refusedUser);
        expect(await exportIt()).toMatchObject({ status: 200 });
        expect(await exportIt()).toMatchObject(refused);
        expect(await rpc.reserveStepUp('/public/v1/query/whoami', {})).toEqual({ status: 200, body: {} });
        await rpc.lock();
        await expect(reserve()).rejects.toEqual(refusal(/^The vault is locked/));
        await expect(rpc.prove({ with: 'password', password })).rejects.toEqual(
          refusal(/^The vault is locked/),
        );
        await rpc.unlock({ with: 'password', password });
        expect(await exportIt()).toMatchObject(refused);
        expect(await addUser('Reachable at once')).toMatchObject({ status: 200 });
      });

      test('a locked vault keeps its keys from the window, and says so', async () => {
        expect((await rpc.lock()).state).toBe('locked');
        expect((await rpc.lock()).state).toBe('locked');
        await expect(rpc.call('/public/v1/query/whoami', {})).rejects.toEqual(
          refusal(/^The vault is locked: unlock it/),
        );
        expect((await rpc.status()).owner?.userName).toBe('Ada');
      });

      test('a frozen vault says so until a secret opens it', async () => {
        const frozen = await rpc.freeze();
        expect(frozen).toMatchObject({ state: 'locked', frozen: { at: expect.any(Number) as unknown } });
        expect(await rpc.freeze()).toEqual(frozen);
        expect(await rpc.lock()).toEqual(frozen);
        await expect(rpc.call('/public/v1/query/whoami', {})).rejects.toEqual(
          refusal(/^The vault is frozen: nothing is signed/),
        );
        await expect(rpc.unlock({ with: 'keychain' })).rejects.toEqual(
          refusal(/^The vault is frozen, and the keychain does not open it then/),
        );
        expect(await rpc.unlock({ with: 'password', password })).toMatchObject({
          state: 'unlocked',
          frozen: null,
        });
      });

      test.each<[UnlockWith, RegExp]>([
        [{ with: 'password', password: 'incorrect horse' }, /^The password does not open this vault\.$/],
        [
          { with: 'recovery', phrase: `${'abandon '.repeat(23)}art` },
          /^The recovery phrase does not open this vault\.$/,
        ],
        [{ with: 'recovery', phrase: 'abandon' }, /^invalid recovery phrase: expected 24 words, got 1$/],
        [{ with: 'recovery', phrase: `${'abandon '.repeat(23)}keyhearth` }, /^invalid recovery phrase: /],
        [{ with: 'keychain' }, /^This vault has no keychain to unlock it with\. It opens with: /],
        [{ with: 'magic' } as never, /^invalid unlock\.with: expected one of keychain, password, recovery/],
        [{ with: 'password' } as never, /^missing field unlock\.password/],
      ])('unlock with %j is refused for a reason, and stays locked', async (how, message) => {
        await rpc.lock();
        await expect(rpc.unlock(how)).rejects.toEqual(refusal(message));
        expect((await rpc.status()).state).toBe('locked');
      });

      test('events tell of every lock and unlock, and of every activity', async () => {
        await settle();
        heard.length = 0;
        await rpc.lock();
        await rpc.unlock({ with: 'password', password });
        await settle();
        expect(heard).toEqual([{ kind: 'status' }, { kind: 'status' }]);
        heard.length = 0;
        const { body } = await createWallet('Told');
        const { id } = (body as { activity: { id: string } }).activity;
        const failed = await createWallet('Told');
        expect(failed.status).toBe(400);
        await vi.waitFor(() => {
          expect(heard).toEqual([
            {
              kind: 'activity',
              id,
              type: 'ACTIVITY_TYPE_CREATE_WALLET',
              status: 'ACTIVITY_STATUS_COMPLETED',
            },
            {
              kind: 'activity',
              id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
              type: 'ACTIVITY_TYPE_CREATE_WALLET',
              status: 'ACTIVITY_STATUS_FAILED',
            },
          ]);
        });
        // Queries change nothing.
        await rpc.call('/public/v1/query/list_wallets', {});
        await settle();
        expect(heard).toHaveLength(2);
      });

      test('a listener that stopped hears nothing more, and the others do', async () => {
        const own: VaultEvent[] = [];
        await settle();
        heard.length = 0;
        const stop = rpc.onEvent((event) => own.push(event));
        await createWallet('First');
        await vi.waitFor(() => {
          expect(own).toHaveLength(1);
        });
        stop();
        await createWallet('Second');
        await vi.waitFor(() => {
          expect(heard).toHaveLength(2);
        });
        expect(own).toHaveLength(1);
      });
    });
  });
}

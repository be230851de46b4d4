import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { environmentWith, makeConfig, readConfig, sessionBusAddress, startArguments } from './config.ts';

describe('sessionBusAddress', () => {
  test.each([
    [{ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/a', XDG_RUNTIME_DIR: '/run/user/1' }, 'unix:path=/a'],
    [{ XDG_RUNTIME_DIR: '/run/user/1' }, 'unix:path=/run/user/1/bus'],
    [{ XDG_RUNTIME_DIR: '/run/a user,1' }, 'unix:path=/run/a%20user%2C1/bus'],
    [{ DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' }, undefined],
    [{}, undefined],
  ])('%j', (environment, address) => {
    expect(sessionBusAddress(environment)).toBe(address);
  });
});

// The class: a variable that names no directory, read as the working directory.
describe('variables without a value', () => {
  const usual = readConfig([], { HOME: '/home/ann' });

  test.each(['KEYHEARTH_DATA_DIR', 'KEYHEARTH_CONFIG_DIR', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME'])(
    'an empty %s is none',
    (name) => {
      const { dataDirectory, keysDirectory, unitDirectory, former } = readConfig([], { [name]: '' });
      expect({ dataDirectory, keysDirectory, unitDirectory, former }).toEqual({
        dataDirectory: usual.dataDirectory,
        keysDirectory: usual.keysDirectory,
        unitDirectory: usual.unitDirectory,
        former: usual.former,
      });
    },
  );

  test.each(['XDG_DATA_HOME', 'XDG_CONFIG_HOME'])('a relative %s is ignored', (name) => {
    const { dataDirectory, keysDirectory, unitDirectory } = readConfig([], { [name]: 'here' });
    expect([dataDirectory, keysDirectory, unitDirectory]).toEqual([
      usual.dataDirectory,
      usual.keysDirectory,
      usual.unitDirectory,
    ]);
  });

  test.each(['', 'here', './here'])('a home that is %j is none: the system knows the user’s', (home) => {
    const variable = process.platform === 'win32' ? 'USERPROFILE' : 'HOME';
    const says = execFileSync(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { readConfig } from ${JSON.stringify(new URL('config.ts', import.meta.url).href)};
         import { homeDirectory } from ${JSON.stringify(new URL('home-directory.ts', import.meta.url).href)};
         const { dataDirectory, keysDirectory } = readConfig([], {});
         console.log(JSON.stringify([homeDirectory(), dataDirectory, keysDirectory]));`,
      ],
      { encoding: 'utf8', cwd: tmpdir(), env: { ...process.env, [variable]: home } },
    );
    const { homedir } = userInfo();
    for (const directory of JSON.parse(says) as string[]) {
      expect(directory.startsWith(homedir), directory).toBe(true);
    }
  });

  test('every other variable may be empty', () => {
    const names = ['KEYHEARTH_PORT', 'KEYHEARTH_RP_ID', 'KEYHEARTH_URL', 'KEYHEARTH_API_KEY', 'APPIMAGE'];
    const empty = Object.fromEntries(names.map((name) => [name, '']));
    expect(readConfig([], empty)).toEqual(readConfig([], {}));
  });
});

// The class: what starts at login, or again, is another program. An editor that is an AppImage has a terminal, and Keyhearth runs there.
test('the file of an AppImage is that of this program, and not of one that started it', () => {
  const directory = mkdtempSync(join(tmpdir(), 'keyhearth-config-'));
  const appImage = (APPDIR: string | undefined) =>
    readConfig([], { APPIMAGE: '/home/ada/Some.AppImage', APPDIR }).appImage;
  try {
    const link = join(directory, 'link');
    symlinkSync(dirname(process.execPath), link);
    for (const own of [dirname(process.execPath), link])
      expect(appImage(own)).toBe('/home/ada/Some.AppImage');
    const others = [directory, join(directory, 'none'), process.execPath.slice(0, -2), '', undefined];
    for (const other of others) expect(appImage(other)).toBeUndefined();
  } finally {
    rmSync(directory, { recursive: true });
  }
});

describe('--wait', () => {
  test.each(['1', '60', '86400'])('%s is so many seconds', (wait) => {
    expect(makeConfig({ wait }, {}).waitSeconds).toBe(Number(wait));
  });

  test.each(['0', '-1', '1.5', '1e3', ' 5', '86401', '100000', ''])('%j is refused', (wait) => {
    expect(() => makeConfig({ wait }, {})).toThrow('invalid --wait');
  });
});

describe('startArguments', () => {
  test('are none for the defaults', () => {
    expect(startArguments(readConfig([], {}), {})).toEqual({ args: [] });
  });

  test('make the same configuration again, whatever said it the first time', () => {
    const environment = {
      KEYHEARTH_DATA_DIR: 'vaults/a b',
      KEYHEARTH_PORT: '7400',
      XDG_CONFIG_HOME: '/home/ann/set',
    };
    const given = [
      '--rp-id',
      'vault.example',
      '--allow-origin=https://a.example',
      '--allow-origin=https://b.example',
    ];
    const config = readConfig([...given, '--oidc-issuer', 'https://accounts.example'], environment);
    const { args, elsewhere } = startArguments(config, environment);
    expect(elsewhere).toBe(config.dataDirectory);
    const again = readConfig(args, {});
    const { dataDirectory, keysDirectory, port, allowedOrigins, rpId, oidcIssuers } = config;
    expect(again).toMatchObject({ dataDirectory, keysDirectory, port, allowedOrigins, rpId, oidcIssuers });
  });
});

describe('the vault that commands reach', () => {
  const url = 'http://127.0.0.1:1';
  const environment = { KEYHEARTH_URL: url, KEYHEARTH_API_KEY: 'a file', KEYHEARTH_VAULT_FILE: 'named' };

  test('is the one of this machine, unless something names another', () => {
    expect(makeConfig({}, {}).remote).toBeUndefined();
    expect(
      makeConfig({}, { KEYHEARTH_URL: '', KEYHEARTH_ALLOW_HTTP: '1', KEYHEARTH_API_KEY: 'x' }).remote,
    ).toBeUndefined();
    expect(makeConfig({}, { KEYHEARTH_ORGANIZATION: 'x' }).remote).toEqual({
      organizationId: 'x',
      allowHttp: false,
    });
  });

  test('options win, and are not mixed with a vault that variables name', () => {
    expect(makeConfig({ url: 'https://a.example' }, environment)).toMatchObject({
      remote: { url: 'https://a.example', vaultFile: 'named' },
      apiKey: 'a file',
    });
    expect(makeConfig({ vaultFile: 'mine' }, environment)).toMatchObject({
      remote: { vaultFile: 'mine', allowHttp: false },
      apiKey: undefined,
    });
    expect(makeConfig({ dataDir: '/vault' }, environment)).toMatchObject({
      remote: undefined,
      apiKey: 'a file',
    });
    expect(makeConfig({ apiKey: 'owner' }, environment)).toMatchObject({
      apiKey: undefined,
      apiKeyNamed: true,
    });
  });

  test('is the one of `keyhearth dev` for what that runs, whatever was named before', () => {
    const variables = {
      KEYHEARTH_URL: 'http://127.0.0.1:2',
      KEYHEARTH_ORGANIZATION: 'o',
      KEYHEARTH_SIGNER: 's',
      KEYHEARTH_API_KEY: 'k',
    };
    const inside = environmentWith(variables, { ...environment, PATH: '/bin' });
    expect(inside).toEqual({ PATH: '/bin', ...variables, KEYHEARTH_VAULT_FILE: undefined });
    expect(makeConfig({}, inside).remote).toEqual({
      url: 'http://127.0.0.1:2',
      organizationId: 'o',
      signer: 's',
      allowHttp: false,
    });
  });
});

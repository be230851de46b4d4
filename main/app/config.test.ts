import { describe, expect, test } from 'vitest';
import { makeConfig, readConfig, sessionBusAddress, startArguments } from './config.ts';

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

describe('isNpmScript', () => {
  test.each(["'keyhearth'", 'keyhearth serve --ui', 'node main/start.ts', 'node main/start.ts "--port" "0"'])(
    'holds for %s',
    (script) => {
      expect(makeConfig({}, { npm_lifecycle_script: script }).isNpmScript).toBe(true);
    },
  );

  test.each([
    undefined,
    'keyhearth serve & vitest run',
    'keyhearths',
    'vitest run',
    'node main/start.ts; date',
  ])('does not for %s, whose shell may end before', (script) => {
    expect(makeConfig({}, { npm_lifecycle_script: script }).isNpmScript).toBe(false);
  });
});

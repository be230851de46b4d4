import { describe, expect, test } from 'vitest';
import { sessionBusAddress } from './config.ts';

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

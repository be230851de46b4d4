import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findFault, readAuthenticatorData, readClientData } from './web-authentication.ts';
import type { Ceremony, ClientData, Fault } from './web-authentication.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const data = (rpId: string, flags: number, signCount = 0): Uint8Array => {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(signCount, 1);
  return new Uint8Array(Buffer.concat([hash('sha256', rpId, 'buffer'), head]));
};

const clientData: ClientData = { type: 'webauthn.get', challenge: 'AA', origin: 'http://localhost:7377' };
const ceremony: Ceremony = {
  type: 'webauthn.get',
  isChallenge: (challenge) => challenge === 'AA',
  otherwise: 'not the challenge',
  rpId: 'localhost',
  origins: undefined,
};

describe('reading', () => {
  test('client data, with more in it than is asked for', () => {
    const text = JSON.stringify({ ...clientData, crossOrigin: false, other: ['…'] });
    expect(readClientData(bytes(text))).toEqual(clientData);
    for (const none of ['', '{', 'null', '"x"', '[]', '{"type":"a","challenge":"b"}', '{"type":1}']) {
      expect(readClientData(bytes(none)), none).toBeUndefined();
    }
  });

  test('authenticator data, wherever in memory it lies', () => {
    const whole = data('localhost', 0x05, 0xfffffffe);
    const shifted = new Uint8Array([...bytes('before'), ...whole]).subarray('before'.length);
    for (const each of [whole, shifted, new Uint8Array([...whole, 0xa0])]) {
      const read = readAuthenticatorData(each);
      expect(read).toMatchObject({ userPresent: true, signCount: 0xfffffffe });
      expect(Buffer.from(read?.rpIdHash ?? []).toString('hex')).toBe(hash('sha256', 'localhost'));
    }
    expect(readAuthenticatorData(data('localhost', 0x04))).toMatchObject({ userPresent: false });
    expect(readAuthenticatorData(whole.subarray(1))).toBeUndefined();
  });
});

describe('a ceremony', () => {
  const find = (
    changes: Partial<ClientData>,
    rules: Partial<Ceremony> = {},
    flags = 0x01,
  ): Fault | undefined =>
    findFault({ ...clientData, ...changes }, readAuthenticatorData(data('localhost', flags)), {
      ...ceremony,
      ...rules,
    });

  test('is what it must be, or its first fault is named', () => {
    expect(find({})).toBeUndefined();
    expect(find({ type: 'webauthn.create' })).toMatchObject({ field: 'clientDataJson' });
    expect(find({ challenge: 'AAA' })).toEqual({ field: 'clientDataJson', problem: 'not the challenge' });
    expect(find({}, { rpId: 'ocalhost', origins: [clientData.origin] })).toMatchObject({
      field: 'authenticatorData',
    });
    expect(find({}, {}, 0x04)).toEqual({
      field: 'authenticatorData',
      problem: 'expected the user-present flag to be set',
    });
    expect(findFault(undefined, undefined, ceremony)).toMatchObject({ field: 'clientDataJson' });
    expect(findFault(clientData, undefined, ceremony)).toMatchObject({ field: 'authenticatorData' });
  });

  const runsOn = (rpId: string, origin: string, origins?: readonly string[]): boolean =>
    findFault({ ...clientData, origin }, readAuthenticatorData(data(rpId, 0x01)), {
      ...ceremony,
      rpId,
      origins,
    }) === undefined;

  test.each([
    ['localhost', 'http://localhost'],
    ['localhost', 'http://localhost:7377'],
    ['localhost', 'https://localhost'],
    ['localhost', 'http://app.localhost:3000'],
    ['app.localhost', 'http://app.localhost:3000'],
    ['vault.example', 'https://vault.example'],
    ['vault.example', 'https://app.vault.example:8443'],
  ])('for %s runs on %s', (rpId, origin) => {
    expect(runsOn(rpId, origin)).toBe(true);
  });

  test.each([
    ['localhost', 'http://127.0.0.1:7377'],
    ['localhost', 'http://[::1]:7377'],
    ['localhost', 'https://evillocalhost'],
    ['localhost', 'https://localhost.evil.example'],
    ['localhost', 'HTTP://localhost'],
    ['localhost', 'http://localhost/'],
    ['localhost', 'http://localhost:80'],
    ['localhost', 'http://user@localhost'],
    ['localhost', 'http://LOCALHOST'],
    ['localhost', 'ftp://localhost'],
    ['localhost', 'file://localhost'],
    ['localhost', 'null'],
    ['localhost', ''],
    ['app.localhost', 'http://localhost'],
    ['app.localhost', 'http://other.localhost'],
    ['vault.example', 'http://vault.example'],
    ['vault.example', 'https://example'],
    ['vault.example', 'https://vault.example.'],
    ['vault.example', 'http://localhost'],
    ['vault.example', 'android:apk-key-hash:vault.example'],
  ])('for %s does not run on %j', (rpId, origin) => {
    expect(runsOn(rpId, origin)).toBe(false);
  });

  test('runs on what is listed to the letter, and on nothing else', () => {
    const listed = ['https://app.example', 'http://other.example:1234'];
    for (const origin of listed) expect(runsOn('localhost', origin, listed)).toBe(true);
    for (const origin of [
      'http://localhost',
      'https://app.example:444',
      'https://sub.app.example',
      'app.example',
    ]) {
      expect(runsOn('localhost', origin, listed), origin).toBe(false);
    }
    expect(runsOn('localhost', 'http://localhost', [])).toBe(false);
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WindowSessions } from './window-sessions.ts';

const cookieName = 'latchkey_7377';
const minute = 60_000;

let sessions: WindowSessions;

beforeEach(() => {
  vi.useFakeTimers();
  sessions = new WindowSessions('the nonce');
});
afterEach(() => {
  vi.useRealTimers();
});

type Opened = NonNullable<ReturnType<WindowSessions['open']>>;

function open(): Opened {
  const opened = sessions.open(sessions.newCode());
  if (opened === undefined) throw new Error('the code opened nothing');
  return opened;
}

const identify = (headers: Record<string, string>): string | undefined =>
  sessions.identify(headers, cookieName);
const browser = ({ cookie, token }: Opened): string | undefined =>
  identify({ cookie: `${cookieName}=${cookie}`, 'x-latchkey-session': token });

describe('codes', () => {
  test('open one session each', () => {
    const code = sessions.newCode();
    expect(sessions.open(code)).toBeDefined();
    expect(sessions.open(code)).toBeUndefined();
    expect(sessions.open('')).toBeUndefined();
    expect(sessions.open(`${sessions.newCode()}x`)).toBeUndefined();
  });

  test('last ten minutes', () => {
    const [one, two] = [sessions.newCode(), sessions.newCode()];
    vi.advanceTimersByTime(10 * minute);
    expect(sessions.open(one)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(sessions.open(two)).toBeUndefined();
  });

  test('of another run open nothing', () => {
    expect(new WindowSessions('the nonce').open(sessions.newCode())).toBeUndefined();
  });
});

describe('sessions', () => {
  test('need both secrets, of the same session', () => {
    const [one, two] = [open(), open()];
    expect(browser(one)).toBe('browser');
    expect(browser({ cookie: one.cookie, token: two.token })).toBeUndefined();
    expect(browser({ cookie: one.token, token: one.cookie })).toBeUndefined();
    expect(identify({ cookie: `${cookieName}=${one.cookie}` })).toBeUndefined();
    expect(identify({ 'x-latchkey-session': one.token })).toBeUndefined();
    expect(identify({})).toBeUndefined();
  });

  test('find their cookie among others, under the port’s own name', () => {
    const { cookie, token } = open();
    const named = (text: string): string | undefined =>
      identify({ cookie: text, 'x-latchkey-session': token });
    expect(named(`a=b;${cookieName}=${cookie} ; c=d`)).toBe('browser');
    expect(named(`latchkey_1=${cookie}`)).toBeUndefined();
    expect(named(`x${cookieName}=${cookie}`)).toBeUndefined();
    expect(named(`${cookieName}=`)).toBeUndefined();
    expect(named(cookieName)).toBeUndefined();
  });

  test('end twelve hours after their last use', () => {
    const opened = open();
    for (let use = 0; use < 3; use++) {
      vi.advanceTimersByTime(12 * 60 * minute);
      expect(browser(opened)).toBe('browser');
    }
    vi.advanceTimersByTime(12 * 60 * minute + 1);
    expect(browser(opened)).toBeUndefined();
  });

  test('are 32 at most: the oldest makes room', () => {
    const first = open();
    const others = Array.from({ length: 31 }, open);
    expect(browser(first)).toBe('browser');
    const last = open();
    expect(browser(first)).toBeUndefined();
    for (const opened of [...others, last]) expect(browser(opened)).toBe('browser');
  });
});

describe('the command line', () => {
  test('proves itself with the run’s nonce', () => {
    expect(identify({ authorization: 'Bearer the' })).toBeUndefined();
    const run = new WindowSessions('nonce');
    expect(run.identify({ authorization: 'Bearer nonce' }, cookieName)).toBe('command');
    for (const authorization of [
      'Bearer Nonce',
      'Bearer nonce2',
      'Bearer  nonce',
      'bearer nonce',
      'nonce',
      'Bearer ',
    ]) {
      expect(run.identify({ authorization }, cookieName), authorization).toBeUndefined();
    }
  });

  test('with a wrong nonce is not let in by a session that comes along', () => {
    const { cookie, token } = open();
    const headers = { cookie: `${cookieName}=${cookie}`, 'x-latchkey-session': token };
    expect(identify({ ...headers, authorization: 'Bearer wrong' })).toBeUndefined();
    expect(identify(headers)).toBe('browser');
  });
});

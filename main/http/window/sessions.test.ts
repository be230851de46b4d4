import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WindowSessions } from './sessions.ts';

const cookieName = 'keyhearth_7377';
const minute = 60_000;

let sessions: WindowSessions;

beforeEach(() => {
  vi.useFakeTimers();
  sessions = new WindowSessions();
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

const identify = (headers: Record<string, string>): boolean => sessions.isSession(headers, cookieName);
const browser = ({ cookie, token }: Opened): boolean =>
  identify({ cookie: `${cookieName}=${cookie}`, 'x-keyhearth-session': token });

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

  test('last as long as they are given, and tell when they are spent', () => {
    const onSpent = vi.fn();
    const [one, two] = [sessions.newCode(minute, onSpent), sessions.newCode(minute, onSpent)];
    expect(sessions.open(one)).toBeDefined();
    expect(onSpent).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(minute + 1);
    expect(sessions.open(two)).toBeUndefined();
    expect(onSpent).toHaveBeenCalledOnce();
  });

  test('of another run open nothing', () => {
    expect(new WindowSessions().open(sessions.newCode())).toBeUndefined();
  });
});

describe('sessions', () => {
  test('need both secrets, of the same session', () => {
    const [one, two] = [open(), open()];
    expect(browser(one)).toBe(true);
    expect(browser({ cookie: one.cookie, token: two.token })).toBe(false);
    expect(browser({ cookie: one.token, token: one.cookie })).toBe(false);
    expect(identify({ cookie: `${cookieName}=${one.cookie}` })).toBe(false);
    expect(identify({ 'x-keyhearth-session': one.token })).toBe(false);
    expect(identify({})).toBe(false);
  });

  test('find their cookie among others, under the port’s own name', () => {
    const { cookie, token } = open();
    const named = (text: string): boolean => identify({ cookie: text, 'x-keyhearth-session': token });
    expect(named(`a=b;${cookieName}=${cookie} ; c=d`)).toBe(true);
    expect(named(`keyhearth_1=${cookie}`)).toBe(false);
    expect(named(`x${cookieName}=${cookie}`)).toBe(false);
    expect(named(`${cookieName}=`)).toBe(false);
    expect(named(cookieName)).toBe(false);
  });

  test('end twelve hours after their last use', () => {
    const opened = open();
    for (let use = 0; use < 3; use++) {
      vi.advanceTimersByTime(12 * 60 * minute);
      expect(browser(opened)).toBe(true);
    }
    vi.advanceTimersByTime(12 * 60 * minute + 1);
    expect(browser(opened)).toBe(false);
  });

  test('are 32 at most: the oldest makes room', () => {
    const first = open();
    const others = Array.from({ length: 31 }, open);
    expect(browser(first)).toBe(true);
    const last = open();
    expect(browser(first)).toBe(false);
    for (const opened of [...others, last]) expect(browser(opened)).toBe(true);
  });
});

test('no bearer token is a session, whatever comes along', () => {
  const { cookie, token } = open();
  expect(identify({ authorization: `Bearer ${token}` })).toBe(false);
  expect(identify({ authorization: `Bearer ${token}`, cookie: `${cookieName}=${cookie}` })).toBe(false);
});

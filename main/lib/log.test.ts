import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { addLogSink, logDetail, logFault, logInfo, logWarning, setVerbose, type LogEntry } from './log.ts';

let entries: LogEntry[];
let written: string;
let stop: () => void;

beforeEach(() => {
  entries = [];
  written = '';
  stop = addLogSink((entry) => {
    entries.push(entry);
  });
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written += String(text);
    return true;
  });
});
afterEach(() => {
  stop();
  setVerbose(false);
  vi.restoreAllMocks();
});

test('standard error has errors and warnings, and the rest with --verbose', () => {
  logWarning('careful');
  logInfo('by the way');
  logDetail(() => {
    throw new Error('it is not asked for');
  });
  expect(written).toBe('careful\n');
  expect(entries).toEqual([
    { level: 'warn', text: 'careful' },
    { level: 'info', text: 'by the way' },
  ]);
  setVerbose(true);
  logInfo('once more');
  logDetail(() => 'in detail');
  expect(written).toBe('careful\nonce more\nin detail\n');
  expect(entries.at(-1)).toEqual({ level: 'debug', text: 'in detail' });
});

test('an error is logged with its stack and its causes, and without what else is in it', () => {
  const cause = Object.assign(new Error('the socket closed'), { request: { password: 'sesame' } });
  const error = new Error('not sent', { cause });
  logFault(error, 'a delivery');
  const [entry] = entries;
  expect(entry?.level).toBe('error');
  expect(entry?.text).toMatch(
    /^latchkey: a delivery: Error: not sent\n {4}at [^]*\nCaused by: Error: the socket closed\n {4}at /,
  );
  expect(entry?.text).not.toContain('sesame');
  expect(written).toBe(`${entry?.text ?? ''}\n`);

  logFault(new AggregateError([new Error('first'), new TypeError('second')], 'all failed'));
  expect(entries[1]?.text).toMatch(/all failed[^]*Caused by: Error: first[^]*Caused by: TypeError: second/);
});

test('a ring of causes ends', () => {
  const one = new Error('one');
  one.cause = new Error('two', { cause: one });
  logFault(one);
  expect(entries[0]?.text.match(/Caused by/g)).toHaveLength(4);
});

test.each(['{"password": sesame}', 'sesame', '{"sesame"\n: x}'])(
  'what JSON.parse repeats of %j is left out',
  (text) => {
    let thrown: unknown;
    try {
      JSON.parse(text);
    } catch (error) {
      thrown = error;
    }
    expect(String(thrown)).toContain('sesame');
    logFault(thrown);
    logFault(new Error('around it', { cause: thrown }));
    expect(entries).toHaveLength(2);
    expect(JSON.stringify(entries)).toContain('is not valid JSON');
    expect(JSON.stringify(entries)).not.toContain('sesame');
  },
);

test('no text moves a terminal, and none is long', () => {
  logFault(new Error('a\u001b[2J\rname\u202e'));
  expect(entries[0]?.text).toContain('a⟨U+001B⟩[2J⟨U+000D⟩name⟨U+202E⟩');
  logWarning('x'.repeat(1_000_000));
  expect(entries[1]?.text.length).toBeLessThan(9000);
});

test('what is thrown and is no error is logged too', () => {
  logFault('a text');
  logFault(undefined);
  expect(entries.map(({ text }) => text)).toEqual(['string thrown: a text', 'undefined thrown: undefined']);
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { addLogSink, logDetail, logFault, logInfo, logWarning, setVerbose, type LogEntry } from './log.ts';
import { visibleName } from './text/visible-text.ts';

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
    /^keyhearth: a delivery: Error: not sent\n {4}at [^]*\nCaused by: Error: the socket closed\n {4}at /,
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

// Everything of the secret is Cyrillic, and nothing else in an entry is: a single character of it shows.
const secret = 'ЖѢѨѮѴҊҎҐ';
const anyOfSecret = /\p{Script=Cyrillic}/u;
const long = 'a text that goes on for longer than V8 quotes';
const unparsable = {
  'short, the secret alone': secret,
  'short, in an object': `{"a": ${secret}}`,
  'short, over two lines': `{"${secret}"\n: x}`,
  'short, ends like a message': `${secret.slice(0, 1)}" is not valid JSON`,
  'long, at its beginning': `${secret}, ${long}`,
  'long, in its middle': `{"before": "${long}", "password": ${secret}", "after": "${long}"}`,
  'long, at its end': `{"before": "${long}", "password": ${secret}`,
  'long, with quotes in the quotation': `{"before": "${long}", "${secret}": x" "y", "after": "${long}"}`,
  'long, ends like a message': `{"before": "${long}", "a": ${secret}" is not valid JSON`,
  'long, with a character of two units': `{"before": "${long}", "a": \u{10400}${secret}"`,
};

function errorOf(text: string): Error {
  try {
    JSON.parse(text);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error(`expected that JSON.parse refuses ${text}`);
}

describe.each(Object.entries(unparsable))('the piece that JSON.parse quotes: %s', (_name, text) => {
  const thrown = errorOf(text);
  const { message } = thrown;
  const ways: Readonly<Record<string, () => void>> = {
    'the error itself': () => {
      logFault(thrown);
    },
    'a cause': () => {
      logFault(new Error('around it', { cause: thrown }));
    },
    'one of several errors': () => {
      logFault(new AggregateError([new Error('another'), thrown]));
    },
    'an error from another thread': () => {
      logFault(structuredClone(thrown));
    },
    'an error of another class': () => {
      logFault(new Error(`the settings cannot be read: ${message}`));
    },
    'a thrown text': () => {
      logFault(message);
    },
    'a warning': () => {
      logWarning(`Backups: ${message}; ${message}`);
    },
    'a warning that quotes the message': () => {
      logWarning(`Backups: ${JSON.stringify(message)}`);
    },
    'a warning that makes the message visible': () => {
      logWarning(`Backups: ${visibleName(message)}`);
    },
    information: () => {
      logInfo(message);
    },
    detail: () => {
      setVerbose(true);
      logDetail(() => message);
    },
  };

  test.each(Object.entries(ways))('is left out of %s', (_way, log) => {
    expect(message).toMatch(anyOfSecret);
    log();
    expect(entries).toHaveLength(1);
    expect(entries[0]?.text).toContain('… is not valid JSON');
    expect(`${entries[0]?.text ?? ''}${written}`).not.toMatch(anyOfSecret);
  });

  test('is left out where the text is cut within it', () => {
    const end = message.lastIndexOf(secret.slice(0, 1)) + 1;
    logWarning(`the settings cannot be read: ${message.slice(0, end)}...`);
    // The entry itself is cut at 8192 characters.
    logWarning(`${'x'.repeat(8192 - end)}${message}`);
    expect(entries).toHaveLength(2);
    expect(written).not.toMatch(anyOfSecret);
  });
});

test('what JSON.parse says without a quotation stays, and so does what stands around one', () => {
  for (const text of ['{"a" 1}', '{} x', '"\n"', '', 'undefined']) {
    const { message } = errorOf(text);
    logWarning(`before ${message} after`);
    expect(entries.at(-1)?.text).toBe(`before ${message} after`);
  }
  logWarning(`before ${errorOf('sesame').message} after`);
  expect(entries.at(-1)?.text).toBe('before … is not valid JSON after');
});

test('no text moves a terminal, and none is long', () => {
  logFault(new Error('a\u001b[2J\rname\u202e'));
  expect(entries[0]?.text).toContain('a⟨U+001B⟩[2J⟨U+000D⟩name⟨U+202E⟩');
  logWarning('x'.repeat(1_000_000));
  expect(entries[1]?.text.length).toBeLessThan(9000);
});

test('a thrown value that is not an error is logged too', () => {
  logFault('a text');
  logFault(undefined);
  expect(entries.map(({ text }) => text)).toEqual(['string thrown: a text', 'undefined thrown: undefined']);
});

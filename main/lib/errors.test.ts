import { describe, expect, test } from 'vitest';
import {
  assertNever,
  errorBody,
  errorCodes,
  fromFailure,
  KeyhearthError,
  messageOf,
  quoted,
  toFailure,
} from './errors.ts';

describe('errorCodes', () => {
  test('give google.rpc codes and the HTTP statuses that belong to them', () => {
    const statuses = Object.fromEntries(
      Object.entries(errorCodes).map(([name, { http, grpc }]) => [name, [http, grpc]]),
    );
    expect(statuses).toMatchObject({
      INVALID_ARGUMENT: [400, 3],
      UNAUTHENTICATED: [401, 16],
      PERMISSION_DENIED: [403, 7],
      NOT_FOUND: [404, 5],
      ALREADY_EXISTS: [409, 6],
      RESOURCE_EXHAUSTED: [429, 8],
      LIMIT_REACHED: [429, 8],
      INTERNAL: [500, 13],
      UNIMPLEMENTED: [501, 12],
      UNAVAILABLE: [503, 14],
      STORAGE_UNAVAILABLE: [503, 14],
    });
  });

  test('of who may not, and of the vault’s own state, are not kept as an activity’s', () => {
    for (const code of [
      'VAULT_LOCKED',
      'VAULT_MISSING',
      'VAULT_TAMPERED',
      'VAULT_ROLLED_BACK',
      'BACKUP_UNREADABLE',
      'UNAUTHENTICATED',
      'PERMISSION_DENIED',
      'INTERNAL',
      'UNAVAILABLE',
      'STORAGE_UNAVAILABLE',
    ] as const) {
      expect(errorCodes[code].recorded, code).toBe(false);
    }
  });
});

describe('errorBody', () => {
  test('has the real API’s four fields, and its own code among the details', () => {
    const error = new KeyhearthError('NOT_FOUND', 'no such thing', {
      turnkeyErrorCode: 'ORGANIZATION_NOT_FOUND',
      details: [{ '@type': 'type.googleapis.com/google.rpc.Help', description: 'look' }],
      cause: new Error('private'),
    });
    expect(errorBody(error)).toEqual({
      code: 5,
      message: 'no such thing',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.Help', description: 'look' },
        {
          '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail',
          turnkeyErrorCode: 'ORGANIZATION_NOT_FOUND',
        },
      ],
      turnkeyErrorCode: 'ORGANIZATION_NOT_FOUND',
    });
    expect(JSON.stringify(errorBody(error))).not.toContain('private');
  });

  test.each([
    ['INVALID_ARGUMENT', 'REQUEST_INVALID'],
    ['UNAUTHENTICATED', 'UNAUTHENTICATED'],
    ['PERMISSION_DENIED', 'FORBIDDEN'],
    ['RESOURCE_EXHAUSTED', 'RATE_LIMIT_EXCEEDED'],
    ['INTERNAL', 'INTERNAL'],
    ['LIMIT_REACHED', 'LIMIT_REACHED'],
    ['STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE'],
    ['VAULT_LOCKED', 'VAULT_LOCKED'],
    ['VAULT_TAMPERED', 'VAULT_TAMPERED'],
    ['BACKUP_UNREADABLE', 'BACKUP_UNREADABLE'],
  ] as const)('%s is %s where nothing nearer is said', (code, turnkeyErrorCode) => {
    expect(errorBody(new KeyhearthError(code, ''))).toMatchObject({ turnkeyErrorCode });
  });

  test('is the same from a failure that was kept', () => {
    const error = new KeyhearthError('ALREADY_EXISTS', 'there', { details: [{ '@type': 'x', y: 1 }] });
    const kept = JSON.parse(JSON.stringify(toFailure(error))) as ReturnType<typeof toFailure>;
    expect(errorBody(fromFailure(kept))).toEqual(errorBody(error));
    expect(errorBody(kept)).toEqual(errorBody(error));
  });
});

describe('seen', () => {
  test.each([
    ['text', '"text"'],
    ['a "quoted"\nline', '"a \\"quoted\\"\\nline"'],
    [7, '7'],
    [null, 'null'],
    [[1, { a: 2 }], '[1,{"a":2}]'],
    [undefined, 'nothing'],
    // Characters that break a line, control a terminal or reverse a text.
    ['\u2028\u009b2J\u202e\ud800', String.raw`"\u2028\u009b2J\u202e\ud800"`],
    ['Zoë 山 🔑', '"Zoë 山 🔑"'],
  ])('quotes %j as %s', (value, text) => {
    expect(quoted(value)).toBe(text);
  });

  test('stops at 80 characters', () => {
    expect(quoted('x'.repeat(78))).toBe(`"${'x'.repeat(78)}"`);
    expect(quoted('x'.repeat(79))).toBe(`"${'x'.repeat(76)}...`);
    expect(quoted({ a: 'x'.repeat(1000) })).toHaveLength(80);
    expect(quoted('"x'.repeat(1000))).toBe(`${JSON.stringify('"x'.repeat(100)).slice(0, 77)}...`);
  });

  test('does not go to the bottom of what has none', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(quoted(deep)).toBe(`${'['.repeat(77)}...`);
  });
});

test('assertNever throws at what the compiler did not foresee', () => {
  expect(() => assertNever('surprise' as never)).toThrow('unreachable: surprise');
});

test('a whole number beyond what a double holds is quoted to the last digit', () => {
  expect(quoted({ a: [2n ** 60n] })).toBe('{"a":["1152921504606846976"]}');
});

test('the message of what is thrown is there whatever it is', () => {
  expect(messageOf(new KeyhearthError('VAULT_LOCKED', 'it is locked', { cause: new Error('why') }))).toBe(
    'it is locked',
  );
  expect(['a text', undefined, { a: 1 }].map(messageOf)).toEqual(['a text', 'undefined', '[object Object]']);
});

import { expect, test } from 'vitest';
import { StepUp } from './step-up.ts';

const minute = 60_000;

function start() {
  let at = 1_000_000;
  const proof = new StepUp({ now: () => at, wall: () => at });
  const allows = (use: 'export' | 'wayIn' | 'policy'): boolean => {
    try {
      proof.check(use);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'PERMISSION_DENIED', turnkeyErrorCode: 'OWNER_PROOF_REQUIRED' });
      return false;
    }
  };
  const allowed = (): string[] => (['export', 'wayIn'] as const).filter(allows);
  const wait = (milliseconds: number): void => {
    at += milliseconds;
  };
  return { proof, allowed, allows, wait };
}

test('without a secret nothing is allowed', () => {
  expect(start().allowed()).toEqual([]);
});

test('a step-up is for an export within two minutes, or for ways in within five', () => {
  const { proof, allowed, wait } = start();
  expect(proof.give()).toBe(1_000_000 + 2 * minute);
  expect(allowed()).toEqual(['export', 'wayIn']);
  wait(2 * minute);
  expect(allowed()).toEqual(['wayIn']);
  wait(3 * minute - 1);
  expect(allowed()).toEqual(['wayIn']);
  wait(1);
  expect(allowed()).toEqual([]);
});

test('one export uses it up, and a way in leaves room for more of them alone', () => {
  const { proof, allowed } = start();
  proof.give();
  proof.used('export');
  expect(allowed()).toEqual([]);
  proof.give();
  proof.used('wayIn');
  expect(allowed()).toEqual(['wayIn']);
});

test('opening the vault with a secret is not a step-up for an export', () => {
  const { proof, allowed, wait } = start();
  proof.open();
  expect(allowed()).toEqual(['wayIn']);
  wait(5 * minute);
  expect(allowed()).toEqual([]);
});

test('a policy that reaches far needs what a way in needs', () => {
  const { proof, allows, wait } = start();
  expect(allows('policy')).toBe(false);
  proof.give();
  expect(allows('policy')).toBe(true);
  wait(5 * minute);
  expect(allows('policy')).toBe(false);
});

test('a lock ends it, and a clock that is set back makes it last no longer', () => {
  const { proof, allowed, wait } = start();
  proof.give();
  proof.end();
  expect(allowed()).toEqual([]);
  proof.give();
  wait(-1);
  expect(allowed()).toEqual([]);
});

test('a reserved step-up is for its own request alone, and each export reserves one of its own', () => {
  const { proof, allowed, allows, wait } = start();
  const refused = { code: 'PERMISSION_DENIED', turnkeyErrorCode: 'OWNER_PROOF_REQUIRED' };
  const isFor = (request: string): boolean => {
    try {
      proof.check('export', request);
      return true;
    } catch (error) {
      expect(error).toMatchObject(refused);
      return false;
    }
  };
  expect(() => {
    proof.reserve('export', 'first');
  }).toThrow(expect.objectContaining(refused));
  proof.give();
  proof.reserve('export', 'first');
  expect(allowed()).toEqual([]);
  expect(['first', 'second'].filter(isFor)).toEqual(['first']);
  expect(() => {
    proof.reserve('export', 'second');
  }).toThrow(expect.objectContaining(refused));
  // Again for the same request: it needs no second one.
  proof.give();
  proof.reserve('export', 'first');
  proof.reserve('export', 'second');
  expect(['first', 'second'].filter(isFor)).toEqual(['first', 'second']);
  // The reserved request leaves the owner's newest step-up alone, and is allowed once.
  proof.give();
  proof.used('export', 'first');
  expect(allows('export')).toBe(true);
  proof.used('export');
  expect(['first', 'second'].filter(isFor)).toEqual(['second']);
  wait(2 * minute);
  expect(isFor('second')).toBe(false);
});

test('a lock ends what is reserved, and so does a clock that is set back', () => {
  const { proof, wait } = start();
  for (const end of [
    () => {
      proof.end();
    },
    () => {
      wait(-1);
    },
  ]) {
    proof.give();
    proof.reserve('wayIn', 'request');
    proof.check('wayIn', 'request');
    proof.used('export');
    end();
    expect(() => {
      proof.check('wayIn', 'request');
    }).toThrow();
  }
});

test('a step-up is taken as its request begins, and comes back where the request came to nothing', () => {
  const { proof, allowed } = start();
  proof.give();
  const giveBack = proof.take('export');
  expect(allowed()).toEqual([]);
  expect(() => {
    proof.take('export');
  }).toThrow();
  giveBack();
  expect(allowed()).toEqual(['export', 'wayIn']);
  const afterLock = proof.take('export');
  proof.end();
  afterLock();
  expect(allowed()).toEqual([]);
});

test('a reservation is taken as its request begins, and comes back where the request came to nothing', () => {
  const { proof, allowed } = start();
  proof.give();
  proof.reserve('export', 'first');
  const giveBack = proof.take('export', 'first');
  expect(() => {
    proof.take('export', 'first');
  }).toThrow();
  giveBack();
  const afterLock = proof.take('export', 'first');
  proof.end();
  afterLock();
  expect(() => {
    proof.take('export', 'first');
  }).toThrow();
  expect(allowed()).toEqual([]);
});

test('a reservation that is over leaves no step-up unused', () => {
  const { proof, allowed, wait } = start();
  proof.give();
  proof.reserve('export', 'first');
  wait(2 * minute);
  proof.give();
  proof.take('export', 'first');
  expect(allowed()).toEqual([]);
});

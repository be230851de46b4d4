import { expect, test } from 'vitest';
import type { Scheme } from './schemes.ts';
import { Verifications } from './verifications.ts';

/** A scheme whose other thread answers when a test says so. */
function slowScheme() {
  const answers: ((holds: boolean | Error) => void)[] = [];
  let atOnce = 0;
  const scheme: { -readonly [Part in keyof Scheme]: Scheme[Part] } = {
    publicKeyLength: 1,
    credentialTypes: [],
    verify: () => {
      atOnce += 1;
      return true;
    },
    verifyAside: () =>
      new Promise((resolve, reject) => {
        answers.push((holds) => {
          if (typeof holds === 'boolean') resolve(holds);
          else reject(holds);
        });
      }),
  };
  return { scheme, answers, atOnce: () => atOnce };
}

const nothing = new Uint8Array();

test('a stamp that is alone is verified at once, and others beside it in another thread', async () => {
  let areOthersComing = false;
  const { scheme, answers, atOnce } = slowScheme();
  const verifications = new Verifications(() => areOthersComing);
  const verify = () => verifications.verify(scheme, '', nothing, nothing);
  expect(verify()).toBe(true);
  areOthersComing = true;
  const first = verify();
  areOthersComing = false;
  // The last of them has none behind it, and one before it.
  const last = verify();
  expect([atOnce(), answers.length, verifications.areUnderWay]).toEqual([1, 2, true]);
  answers[0]?.(true);
  answers[1]?.(false);
  expect([await first, await last, verifications.areUnderWay]).toEqual([true, false, false]);
  expect(verify()).toBe(true);
});

test('a fault in another thread rejects the verification, which counts no longer', async () => {
  const { scheme, answers } = slowScheme();
  const verifications = new Verifications(() => true);
  const verified = verifications.verify(scheme, '', nothing, nothing);
  answers[0]?.(new Error('broken'));
  await expect(verified).rejects.toThrow('broken');
  expect(verifications.areUnderWay).toBe(false);
});

test('a flood stays in the turns of its senders, and a scheme of this program’s own always does', () => {
  const { scheme, answers, atOnce } = slowScheme();
  const verifications = new Verifications(() => true);
  for (let stamp = 0; stamp < 1000; stamp += 1) void verifications.verify(scheme, '', nothing, nothing);
  expect(answers.length).toBe(32);
  expect(atOnce()).toBe(968);
  delete scheme.verifyAside;
  expect(new Verifications(() => true).verify(scheme, '', nothing, nothing)).toBe(true);
});

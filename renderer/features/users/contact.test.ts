import { expect, test } from 'vitest';
import { bareNumber, emailProblem, phoneProblem } from './contact.ts';

test('an email address, or none', () => {
  for (const fine of ['', ' ', 'ada@example.org', ' ada@example.org ']) expect(emailProblem(fine)).toBeNull();
  for (const wrong of ['ada', 'ada@example', 'a da@example.org']) expect(emailProblem(wrong)).not.toBeNull();
});

test('a phone number as people write it, or none', () => {
  expect(bareNumber('+44 (20) 7946-0018')).toBe('+442079460018');
  for (const fine of ['', '+44 (20) 7946-0018', '+15551234567']) expect(phoneProblem(fine)).toBeNull();
  for (const wrong of ['020 7946 0018', '+0123456789', '+44 20 79 CALL', '+1234']) {
    expect(phoneProblem(wrong)).toContain('country code');
  }
});

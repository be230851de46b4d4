import { afterEach, expect, test, vi } from 'vitest';
import { unlockingNotes } from './unlocking.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('says every two seconds how far it is, and nothing of what takes less', () => {
  const lines: unknown[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(text) > 0);
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const listen = unlockingNotes();
  for (let checked = 0; checked < 30; checked++) {
    now = checked * 150;
    listen({ kind: 'unlocking', checked, total: 30 });
    listen({ kind: 'status' });
  }
  expect(lines).toEqual([
    'Verifying the vault before unlocking: 46 %.\n',
    'Verifying the vault before unlocking: 93 %.\n',
  ]);
});

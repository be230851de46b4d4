import { IconKey } from '@tabler/icons-react';
import { expect, test } from 'vitest';
import { distance, matching } from './commands.tsx';

const command = (label: string, words?: string) => ({
  id: label,
  label,
  icon: IconKey,
  words,
  run: () => undefined,
});
const commands = [
  command('Settings', 'auto-lock network'),
  command('Unlock log'),
  command('Lock now', 'close shut'),
  command('Clés privées'),
];
const labels = (query: string): readonly string[] => matching(commands, query).map(({ label }) => label);

test('labels that begin with what is typed come before those that have it, and these before other words', () => {
  expect(labels('lock')).toEqual(['Lock now', 'Unlock log', 'Settings']);
  expect(labels('LOCK  no')).toEqual(['Lock now']);
  expect(labels('now lock')).toEqual(['Lock now']);
  expect(labels('cles')).toEqual(['Clés privées']);
  expect(labels('')).toHaveLength(4);
  expect(labels('nothing')).toEqual([]);
  expect(distance('Lock now', 'now')).toBe(1);
});

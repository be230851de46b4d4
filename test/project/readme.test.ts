/**
 * README.md as a reader tries it: one screen, and every block of commands in its order, in one checkout and one shell on a
 * terminal.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsOf, Reader, startSurroundings, type Reading } from './reader.ts';

const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

/** In README's order. */
const readings: readonly Reading[] = [
  { block: 'npm install && npm start', elsewhere: 'test/project/start.test.ts' },
  // The run that this test is a part of.
  { block: 'npm install && npm test', elsewhere: 'test/project/readme.test.ts' },
  { block: './keyhearth init', until: /Keyhearth serves http\S+ the vault is unlocked/, sees: /0x/ },
  {
    block: "printf 'hello'",
    own: async (reader) => [['0x3b8c…', await reader.addressOf('Daily', 'ADDRESS_FORMAT_ETHEREUM')]],
    sees: /"v":"0[01]"/,
  },
  { block: './keyhearth bots add', sees: /May send at most 0.05 ETH from the wallet "Daily"/ },
];

test('is one screen, and the list of blocks is its own', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(151);
  expect(
    commandsOf(readme).map((block) => readings.find((each) => block.startsWith(each.block))?.block ?? block),
  ).toEqual(readings.map(({ block }) => block));
});

test('every block does what it says, in its order', { timeout: 120_000 }, async () => {
  await using surroundings = await startSurroundings();
  await using reader = await Reader.start(surroundings);
  await reader.read(readme, readings);
});

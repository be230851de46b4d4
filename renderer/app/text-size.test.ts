import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the room there is is measured in the size of the text, which a person may double', () => {
  const renderer = join(import.meta.dirname, '..');
  const styles = globSync('**/*.css', { cwd: renderer });
  expect(styles.length).toBeGreaterThan(20);
  const inPixels = styles.filter((path) =>
    /@media[^{]*\d+px/.test(readFileSync(join(renderer, path), 'utf8')),
  );
  expect(inPixels).toEqual([]);
});

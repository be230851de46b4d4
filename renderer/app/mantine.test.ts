import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const renderer = join(import.meta.dirname, '..');
const styles = join(dirname(createRequire(import.meta.url).resolve('@mantine/core/styles.css')), 'styles');
const imported = [
  ...readFileSync(join(import.meta.dirname, 'mantine.css'), 'utf8').matchAll(/core\/styles\/(.+)\.css/g),
].map(([, name]) => name ?? '');

test('every Mantine component in use has its styles', () => {
  const available = new Set(globSync('*.css', { cwd: styles }).map((file) => file.replace('.css', '')));
  const used = globSync('**/*.tsx', { cwd: renderer })
    .map((file) => readFileSync(join(renderer, file), 'utf8'))
    .flatMap((source) => [...source.matchAll(/import \{([^}]+)\} from '@mantine\/core'/g)])
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim()));
  expect(used.length).toBeGreaterThan(30);
  const styled = new Set(used.filter((name) => available.has(name)));
  expect([...styled].filter((name) => !imported.includes(name))).toEqual([]);
});

test('the styles are in the order of the whole stylesheet, which later rules rely on', () => {
  const whole = readFileSync(join(styles, '../styles.css'), 'utf8');
  const places = imported.map((name) =>
    whole.indexOf(
      readFileSync(join(styles, `${name}.css`), 'utf8')
        .trim()
        .slice(0, 150),
    ),
  );
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

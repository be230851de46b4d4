import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fullFolders } from './check-folders.ts';

test('a folder with more than 30 files is named, unless it is excepted by name', () => {
  const root = mkdtempSync(join(tmpdir(), 'keyhearth-folders-'));
  try {
    const fill = (folder: string, files: number): void => {
      mkdirSync(join(root, folder), { recursive: true });
      for (let each = 0; each < files; each++) writeFileSync(join(root, folder, `${String(each)}.ts`), '');
    };
    fill('main', 30);
    fill('main/lib/text', 31);
    fill('main/storage/tables', 47);
    fill('main/other/storage/tables', 33);
    expect(fullFolders(join(root, 'main'), root)).toEqual([
      ['main/lib/text', 31],
      ['main/other/storage/tables', 33],
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

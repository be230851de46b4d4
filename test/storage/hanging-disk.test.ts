/**
 * A disk of backups that does not answer: a network share whose server is gone. Its calls hang, the service
 * does not. Callers that ask about backups get an error, and all others are answered.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ServedVault } from '../campaigns/served-vault.ts';

const isLinux = process.platform === 'linux';

test.runIf(isLinux)('a share that hangs delays only its own backups', async () => {
  await using vault = await ServedVault.make();
  const share = join(vault.home, 'share');
  const hangs = join(vault.home, 'hangs');
  const library = join(vault.home, 'hanging-disk.so');
  mkdirSync(share);
  execFileSync('cc', [
    ...['-O2', '-shared', '-fPIC', '-o', library, join(import.meta.dirname, 'hanging-disk.c'), '-ldl'],
  ]);
  const served = await vault.serve({
    ...{ LD_PRELOAD: library, HANGING_DISK_DIRECTORY: share, HANGING_DISK_SWITCH: hangs },
  });
  const { client } = served;
  const run = async (...argv: readonly string[]) => vault.run(['backup', ...argv, '--json']);
  expect(await run('schedule', share, '--hours', '24')).toMatchObject({ code: 0 });
  const made = await run(join(share, 'mine.backup'));
  expect(made, made.stderr).toMatchObject({ code: 0 });

  writeFileSync(hangs, '');
  // Asked many times, it does not use up the threads that run all calls on files.
  const refused = Promise.all([
    run(join(share, 'another.backup')),
    ...Array.from({ length: 6 }, () => run('status')),
    run('schedule', share, '--hours', '12'),
  ]);
  for (let count = 0; count < 20; count++) expect((await client.query('whoami')).status).toBe(200);
  const [another, ...others] = await refused;
  const changed = others.pop();
  for (const answer of [another, changed]) {
    expect(answer?.code).not.toBe(0);
    expect(answer?.stderr).toContain(`the disk of ${share} does not answer`);
  }
  for (const { code, stdout } of others) {
    expect(code).toBe(0);
    expect((JSON.parse(stdout) as { backups: { found: unknown }[] }).backups[0]?.found).toBeNull();
  }
  expect((await client.query('whoami')).status).toBe(200);

  rmSync(hangs);
  await expect.poll(async () => (await run(join(share, 'third.backup'))).code).toBe(0);
  expect(await served.process.stop('SIGTERM')).toBe(0);
});

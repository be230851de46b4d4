// In which order the files of tests are run: those that take longest first, or the last of them would run alone while the other
// workers have nothing to do. By itself Vitest takes the largest first, and the tests that kill processes are short to read.
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const projectRoot = `${import.meta.dirname}/../../..`;

export const longest: readonly string[] = [
  'test/keys/machine.test.ts',
  'test/commands/commands-end.test.ts',
  'test/commands/command.test.ts',
  'test/commands/command-secrets.test.ts',
  'main/crypto/keys/boringssl.test.ts',
  'test/keys/keyslots-kill.test.ts',
  'test/storage/backup-durability.test.ts',
  'test/keys/memory.test.ts',
  'test/commands/backup-command.test.ts',
  'test/commands/audit-command.test.ts',
  'test/commands/keyslots-command.test.ts',
  'test/storage/row-integrity.test.ts',
  'test/storage/backup-schedule.test.ts',
  'test/campaigns/kill.test.ts',
  'test/desktop/installers.test.ts',
  'test/browser/manage.test.ts',
  'test/browser/tours/accessibility.test.ts',
  'test/browser/tours/walk.test.ts',
  'test/browser/keyslots/keyslots.test.ts',
  'test/browser/states.test.ts',
];

/**
 * Behind all others come the projects whose files share a process, the last of them first: Vitest keeps a process as long as the
 * next file is of the same project. The unit tests, which are the shortest, fill what time is left.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const { projects } = project.vitest;
      const group = project.config.isolate ? 0 : projects.length - projects.indexOf(project);
      const place = longest.indexOf(relative(projectRoot, moduleId).replaceAll('\\', '/'));
      return group * (longest.length + 1) + (place === -1 ? longest.length : place);
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

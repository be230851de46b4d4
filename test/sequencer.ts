// In which order the files of tests are run: those that take longest first, or the last of them would run alone while the other
// workers have nothing to do. By itself Vitest takes the largest first, and the tests that kill processes are short to read.
import { relative } from 'node:path';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const projectRoot = `${import.meta.dirname}/..`;

const longest = [
  'test/keyslots-kill.test.ts',
  'test/backup-durability.test.ts',
  'test/command-secrets.test.ts',
  'test/command.test.ts',
  'test/audit-command.test.ts',
  'test/keyslots-command.test.ts',
  'test/row-integrity.test.ts',
  'test/backup-command.test.ts',
  'test/campaigns/kill.test.ts',
  'test/browser/manage.test.ts',
  'test/browser/accessibility.test.ts',
  'test/browser/walk.test.ts',
  'test/browser/keyslots.test.ts',
  'test/browser/states.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = longest.indexOf(relative(projectRoot, moduleId).replaceAll('\\', '/'));
      return place === -1 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

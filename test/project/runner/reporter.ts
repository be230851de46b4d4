// Ends a test run with one line of counts, `N passed, N failed` and `, N skipped` if any, for scripts to read.
import { writeSync } from 'node:fs';
import type { Reporter, TestModule, TestSuite } from 'vitest/node';

interface Counts {
  passed: number;
  /** Tests, and whatever else made the run fail: files and hooks that threw, errors outside any test. */
  failed: number;
  skipped: number;
}

/** A file or a hook that threw takes its tests with it: they never ran, so it counts as a failure of its own. */
function countOwnErrors(holder: TestModule | TestSuite): number {
  let errors = holder.errors().length;
  for (const child of holder.children) if (child.type === 'suite') errors += countOwnErrors(child);
  return errors;
}

/** @param otherErrors how many errors happened outside any test. */
function count(modules: readonly TestModule[], otherErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: otherErrors, skipped: 0 };
  for (const module of modules) {
    counts.failed += countOwnErrors(module);
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // A test that has not ended when the run has was cut off.
      counts[state === 'pending' ? 'failed' : state] += 1;
    }
  }
  return counts;
}

function line({ passed, failed, skipped }: Counts): string {
  const skips = skipped === 0 ? '' : `, ${String(skipped)} skipped`;
  return `${String(passed)} passed, ${String(failed)} failed${skips}`;
}

export class CountsReporter implements Reporter {
  #counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  #watches = false;

  onInit(vitest: { readonly config: { readonly watch: boolean } }): void {
    this.#watches = vitest.config.watch;
    if (this.#watches) return;
    // Nothing can be written after this.
    process.once('exit', (code) => {
      // The run broke outside its tests: in a global set-up, or for want of tests.
      if (code !== 0 && this.#counts.failed === 0) this.#counts.failed = 1;
      writeSync(1, `${line(this.#counts)}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#counts = count(modules, unhandledErrors.length);
    if (this.#watches) console.log(line(this.#counts));
  }
}

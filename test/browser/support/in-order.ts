/** Tests of which each goes on where the one before it ended. */
import type { Page } from 'playwright-core';
import { afterEach, beforeEach } from 'vitest';
import { takePicture } from './chromium.ts';

/** After the first test that fails, the others of the file or of the `describe` are not tried. */
export function goOnFromTestToTest(page: () => Page): void {
  let broken: string | undefined;

  beforeEach(() => {
    if (broken !== undefined) throw new Error(`not tried: “${broken}” failed before`);
  });

  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail' || broken !== undefined) return;
    broken = task.name;
    await takePicture(page(), `failed-${task.name.replaceAll(/\W+/g, '-')}`);
  });
}

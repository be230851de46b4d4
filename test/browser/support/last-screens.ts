// To each error of a test of the window: what its windows showed last, which says most about a failure.
import { afterEach, beforeEach } from 'vitest';
import { forgetLastScreens, lastScreens } from './chromium.ts';

beforeEach(forgetLastScreens);

afterEach(async ({ task }) => {
  const [error] = task.result?.errors ?? [];
  if (error === undefined) return;
  for (const screen of await lastScreens()) error.message += `\nThe last screen was ${screen}`;
});

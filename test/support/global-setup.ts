// The system, browser and desktop tests run what `vite build` made.
import { buildIfNeeded } from '../../main/start.ts';

export async function setup(): Promise<void> {
  await buildIfNeeded();
}

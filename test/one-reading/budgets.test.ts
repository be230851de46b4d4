import { afterAll, beforeAll, expect, test } from 'vitest';
import { atLength } from '../campaigns/length.ts';
import { openScene, type Scene } from './budget-scene.ts';
import { askAll, decideAll, type Outcome } from './budgets.ts';

const asked = 384;
const decided = atLength(800, 2000);

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

/** Each policy gave something, and none gave more than it says. */
function expectKept({ allowed, violations }: Outcome): void {
  expect(violations).toEqual([]);
  for (const { template } of scene.users) expect(allowed[template], template).toBeGreaterThan(0);
}

test('64 concurrent requests sign no more than the ready-made policies allow, as viem reads them', async () => {
  expectKept(await askAll(scene, asked, 15));
});

test('nor does any number of requests, one after another', async () => {
  await using later = await openScene();
  expectKept(await decideAll(later, decided, 16));
});

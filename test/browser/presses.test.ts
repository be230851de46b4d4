/** The class: a test that fails because the page moved under a press, and says that something else did not come. */
import { expect, test } from 'vitest';
import { openWindow, sharedChromium } from './support/chromium.ts';

const page = `<button onclick="document.title += 'x'">Go</button><script>
  const [button] = document.getElementsByTagName('button');
  addEventListener('pointerdown', () => { button.style.marginTop = '300px'; }, { once: true });
</script>`;

test('a press under which the button moved away is repeated, and another is not', async () => {
  await using person = await openWindow(await sharedChromium());
  await person.page.goto(`data:text/html,${encodeURIComponent(page)}`);
  for (const clicked of ['x', 'xx']) {
    await person.page.getByRole('button', { name: 'Go' }).click();
    expect(await person.page.title()).toBe(clicked);
  }
});

/** The class: a text that others chose, and that a screen shows without marking what is hidden in it or moves what is around it. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ethereumAccount, newTestKey, resultOf, TestClient } from '../../support/support.ts';
import { openWindow, sharedChromium } from '../support/chromium.ts';
import { serveDevVault } from '../support/service.ts';
import { goTo, heading } from '../support/steps.ts';

/** Runs from right to left, with a digit: what follows it would stand before it. */
const name = 'א1ב';
/** An override: what follows it would be shown in reverse. */
const path = 'x\u202egro.elpmaxe';

test('names and addresses of others are marked where they stand', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const grace = newTestKey();
  const apiKey = { apiKeyName: name, publicKey: grace.publicKey, curveType: 'API_KEY_CURVE_P256' };
  const { subOrganizationId } = resultOf(
    await root.submit('create_sub_organization', 'CREATE_SUB_ORGANIZATION_V7', {
      subOrganizationName: 'Customer',
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: name, apiKeys: [apiKey], authenticators: [], oauthProviders: [] }],
    }),
  );
  const customer = new TestClient(service.url, String(subOrganizationId), grace);
  const wallet = { walletName: `${name} wallet`, accounts: [ethereumAccount] };
  resultOf(await customer.submit('create_wallet', 'CREATE_WALLET', wallet));
  const endpoint = {
    name: `${name} hook`,
    url: `http://localhost:9/${path}`,
    subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }],
  };
  resultOf(await root.submit('create_webhook_endpoint', 'CREATE_WEBHOOK_ENDPOINT', endpoint));
  const feature = { name: 'FEATURE_NAME_WEBHOOK', value: `http://localhost:9/${path}` };
  resultOf(await root.submit('set_organization_feature', 'SET_ORGANIZATION_FEATURE', feature));

  await using person = await openWindow(await sharedChromium());
  const { page } = person;
  await page.goto(service.windowUrl);
  await goTo(page, 'Organization');
  const marked = 'http://localhost:9/x⟨U+202E⟩gro.elpmaxe';
  await page.getByRole('list', { name: 'Features' }).getByText(marked).waitFor();
  expect(await unmarked(page)).toEqual([]);

  await goTo(page, 'Webhooks');
  await page.getByRole('list', { name: 'Endpoints' }).getByText(marked).waitFor();
  await page.getByRole('list', { name: 'Delivery log' }).getByText(`${name} hook`).first().waitFor();
  expect(await unmarked(page)).toEqual([]);

  await goTo(page, 'Sub-organizations');
  await page.getByRole('link', { name: /^Customer/ }).click();
  await heading(page, 'Customer').waitFor();
  await page.getByRole('list', { name: 'Wallets and private keys' }).getByText(`${name} wallet`).waitFor();
  expect(await unmarked(page)).toEqual([]);
});

/** @returns the texts of the page with an override, or with letters from right to left that are not isolated. */
const unmarked = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    while (texts.nextNode() !== null) {
      const text = texts.currentNode.nodeValue ?? '';
      if (/[\u202e\u05d0-\u05ea]/.test(text.replaceAll(/\u2068[^\u2069]*\u2069/g, ''))) found.push(text);
    }
    return found;
  });

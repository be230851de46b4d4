/** A person who never saw the language creates a policy in the window; the service then decides as the sentence says. */
import { createHash } from 'node:crypto';
import { serializeTransaction } from 'viem';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTestKey, newWallet, resultOf } from '../support/support.ts';
import type { Answer, TestClient } from '../support/support.ts';
import { openWindow, sharedChromium } from './support/chromium.ts';
import { axeFindings, screenFindings } from './support/inspect.ts';
import { serveDevVault } from './support/service.ts';
import type { DevService } from './support/service.ts';
import { button, goTo, heading } from './support/steps.ts';

const friends = [
  '0x71C7656EC7ab88b098defB751B7401B5f6d8976F',
  '0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B',
] as const;
const stranger = '0x000000000000000000000000000000000000dEaD';

let browser: Browser;
let service: DevService;
let person: Awaited<ReturnType<typeof openWindow>>;
let wallet: { readonly walletId: string; readonly ethereum: string };
const users = new Map<string, { readonly userId: string; readonly client: TestClient }>();
const clientOf = (name: string): TestClient => {
  const client = users.get(name)?.client;
  if (client === undefined) throw new Error(`there is no ${name}`);
  return client;
};

beforeAll(async () => {
  browser = await sharedChromium();
  service = await serveDevVault();
  person = await openWindow(browser);
  await person.page.goto(service.windowUrl);
  wallet = await newWallet(service.root, 'Daily');
  for (const userName of ['Anna', 'Bob']) {
    const key = newTestKey();
    const answer = await service.root.submit('create_users', 'CREATE_USERS_V4', {
      users: [
        {
          userName,
          apiKeys: [{ apiKeyName: userName, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    });
    const [userId = ''] = (resultOf(answer) as unknown as { readonly userIds: readonly string[] }).userIds;
    users.set(userName, { userId, client: service.root.as(key) });
  }
});
afterAll(async () => {
  await person[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

let nonce = 0;
/** Sends so many thousandths of an ether; the fee is far below one. */
const pay = (client: TestClient, thousandths: number, to: string = friends[0]): Promise<Answer> =>
  client.submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
    signWith: wallet.ethereum,
    type: 'TRANSACTION_TYPE_ETHEREUM',
    unsignedTransaction: serializeTransaction({
      type: 'eip1559',
      chainId: 1,
      to: to as `0x${string}`,
      value: BigInt(thousandths) * 10n ** 15n,
      gas: 21_000n,
      maxFeePerGas: 1_000_000_000n,
      maxPriorityFeePerGas: 1n,
      nonce: (nonce += 1),
    }),
  });

const statusOf = ({ status, body }: Answer): unknown =>
  status === 200 ? (body as { readonly activity: { readonly status: string } }).activity.status : status;

/** Counts a person's presses. Typed text is not counted. */
class Hand {
  presses = 0;
  async click(target: Locator): Promise<void> {
    this.presses += 1;
    await target.click();
  }
  async choose(page: Page, label: string, option: string): Promise<void> {
    await this.click(page.getByRole('combobox', { name: label, exact: true }));
    await this.click(page.getByRole('option', { name: option, exact: true }));
  }
}

const says = (page: Page): Locator => page.getByRole('status', { name: 'What the policy says' });

describe('“Anna may send up to 0.5 ETH a day from Daily to two addresses, above that Bob must agree”', () => {
  test('takes a few presses, and the service decides so', async () => {
    const { page } = person;
    const found: string[] = [];
    // More than the picker shows at once.
    const book = ['Zoo', ...Array.from({ length: 60 }, (_, index) => `Shop ${String(index)}`)];
    const named = await Promise.all(
      book.map((name) =>
        service.root.submit('create_known_address', 'CREATE_KNOWN_ADDRESS', {
          name,
          address: name === 'Zoo' ? friends[1] : `0x${createHash('sha1').update(name).digest('hex')}`,
        }),
      ),
    );
    expect(new Set(named.map((answer) => statusOf(answer)))).toEqual(new Set(['ACTIVITY_STATUS_COMPLETED']));
    await goTo(page, 'Policies');
    const hand = new Hand();
    await hand.click(page.getByRole('link', { name: 'Create policy' }));
    await heading(page, 'Create policy').waitFor();
    found.push(...(await axeFindings(page, 'builder-empty')));
    // A template lacks some of its parts: its policy is unfinished, and not too complex for a sentence.
    const unfinished = page.getByText('A sentence appears here once the policy is complete.');
    await unfinished.waitFor();
    await page
      .getByRole('combobox', { name: 'Template' })
      .selectOption({ label: 'Payments within a daily budget' });
    await page.getByRole('textbox', { name: 'Up to (ETH)' }).and(page.locator('[value="1"]')).waitFor();
    await page.waitForFunction(() => document.querySelector('.kh-says[aria-busy=false]') !== null);
    expect(await unfinished.isVisible()).toBe(true);
    await page.getByRole('combobox', { name: 'Template' }).selectOption({ label: 'Payments, from scratch' });
    await page.getByRole('textbox', { name: 'Up to (ETH)' }).and(page.locator('[value=""]')).waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Daily payments');
    await hand.choose(page, 'Who: users', 'Anna');
    await hand.choose(page, 'Names of wallets', 'Daily');
    await page.getByRole('textbox', { name: 'Addresses' }).fill(friends[0]);
    // The other comes from the address book, found by its name.
    const picker = page.getByRole('combobox', { name: 'Add from the address book' });
    await hand.click(picker);
    await page.getByText('Showing the first 50.').waitFor();
    expect(await page.getByRole('option', { name: /^Shop / }).count()).toBe(50);
    found.push(...(await axeFindings(page, 'address-book')));
    await picker.fill('zo');
    await hand.click(page.getByRole('option', { name: /^Zoo · / }));
    expect(await page.getByRole('textbox', { name: 'Addresses' }).inputValue()).toBe(friends.join('\n'));
    await page.getByRole('list', { name: 'Names of receivers' }).getByText('Zoo').waitFor();
    expect(await picker.inputValue()).toBe('');
    await page.getByRole('textbox', { name: 'Up to (ETH)' }).fill('0.5');
    await page.getByText('= 500 000 000 000 000 000 wei').waitFor();
    await hand.click(page.getByRole('checkbox', { name: 'Above the limit, others must agree' }));
    await hand.choose(page, 'Above the limit: users', 'Bob');
    await expect.poll(() => says(page).innerText()).toContain('Anna and Bob together');
    const sentence = await says(page).innerText();
    for (const part of [
      'Lets Anna send ETH on Ethereum only to',
      'with Daily.',
      'At most 0.5 ETH (500 000 000 000 000 000 wei) in any 24 hours from each wallet, fees included.',
      'The amount is not limited.',
    ]) {
      expect(sentence.replaceAll(/\s+/g, ' ')).toContain(part);
    }
    found.push(...(await screenFindings(page, 'builder-filled')));
    await hand.click(button(page, 'Create policy'));
    await heading(page, 'Policies').waitFor();
    await page.getByText('Anna and Bob together').waitFor();
    found.push(...(await axeFindings(page, 'policies-sentences')));
    expect(found).toEqual([]);
    expect(hand.presses).toBeLessThanOrEqual(11);

    const anna = clientOf('Anna');
    const bob = clientOf('Bob');
    expect(statusOf(await pay(anna, 300))).toBe('ACTIVITY_STATUS_COMPLETED');
    // To another address, from another user, above the rest of the day.
    expect(statusOf(await pay(anna, 1, stranger))).toBe(403);
    const held = await pay(anna, 300);
    expect(statusOf(held)).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
    expect(statusOf(await pay(bob, 1, stranger))).toBe(403);
    const { fingerprint } = (held.body as { readonly activity: { readonly fingerprint: string } }).activity;
    const approved = await bob.submit('approve_activity', 'APPROVE_ACTIVITY', { fingerprint });
    expect(statusOf(approved)).toBe('ACTIVITY_STATUS_COMPLETED');

    // Both payments and their fees count, also the one that Bob approved.
    const spent = 6n * 10n ** 17n + 2n * 21_000n * 10n ** 9n;
    expect((await service.root.query('list_policy_budgets')).body).toMatchObject({
      policyBudgets: [
        {
          of: 'amount',
          limit: String(5n * 10n ** 17n),
          window: '24h',
          counters: [{ by: [{ holder: 'wallet', value: wallet.walletId }], spent: String(spent) }],
        },
      ],
    });
    await page.getByRole('link', { name: /^Daily payments Allows/ }).click();
    await page.getByText('0.600042 of 0.5 ETH used in the last 24 hours').waitFor();
    expect(await axeFindings(page, 'policy-budget')).toEqual([]);
    await goTo(page, 'Home');
    const used = page.getByRole('list', { name: 'Budgets' }).getByRole('listitem');
    await expect
      .poll(() => used.allInnerTexts())
      .toEqual([
        expect.stringMatching(/^Daily payments\s+0\.600042 of 0\.5 ETH used in the last 24 hours Daily$/),
      ]);
    expect(await used.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('100');
    expect(await axeFindings(page, 'home-budgets')).toEqual([]);
    await goTo(page, 'Policies');
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });

  test('works by the keyboard alone, with the focus always on something', async () => {
    const { page } = person;
    await goTo(page, 'Policies');
    const { keyboard } = page;
    let presses = 0;
    const press = async (key: string): Promise<void> => {
      presses += 1;
      await keyboard.press(key);
      expect(await page.evaluate(() => document.activeElement === document.body), key).toBe(false);
    };
    const tabTo = async (target: Locator): Promise<void> => {
      for (let tabs = 0; tabs < 60; tabs += 1) {
        if (await target.evaluate((element) => element === document.activeElement)) return;
        await press('Tab');
      }
      throw new Error(`the Tab key does not lead to ${String(target)}`);
    };
    const pick = async (label: string, name: string): Promise<void> => {
      await tabTo(page.getByRole('combobox', { name: label, exact: true }));
      await keyboard.type(name);
      await page.getByRole('option', { name, exact: true }).waitFor();
      await press('ArrowDown');
      await press('Enter');
    };
    await tabTo(page.getByRole('link', { name: 'Create policy' }));
    await press('Enter');
    await heading(page, 'Create policy').waitFor();
    presses = 0;
    await tabTo(page.getByRole('textbox', { name: 'Name', exact: true }));
    await keyboard.type('By keyboard');
    await pick('Who: users', 'Anna');
    await pick('Names of wallets', 'Daily');
    await tabTo(page.getByRole('textbox', { name: 'Addresses' }));
    await keyboard.insertText(friends.join('\n'));
    await tabTo(page.getByRole('textbox', { name: 'Up to (ETH)' }));
    await keyboard.type('0.5');
    await tabTo(page.getByRole('checkbox', { name: 'Above the limit, others must agree' }));
    await press('Space');
    await pick('Above the limit: users', 'Bob');
    await expect.poll(() => says(page).innerText()).toContain('Anna and Bob together');
    await tabTo(button(page, 'Create policy'));
    await keyboard.press('Enter');
    await heading(page, 'Policies').waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement === document.body)).toBe(false);
    expect(presses).toBeLessThanOrEqual(45);
    const { body } = await service.root.query('list_policies');
    const { policies } = body as unknown as {
      readonly policies: readonly Record<'policyName' | 'condition' | 'consensus', string>[];
    };
    const textsOf = (name: string) =>
      policies
        .filter(({ policyName }) => policyName.startsWith(name))
        .map(({ condition, consensus }) => ({ condition, consensus }));
    expect(textsOf('By keyboard')).toHaveLength(2);
    expect(textsOf('By keyboard')).toEqual(textsOf('Daily payments'));
  });
});

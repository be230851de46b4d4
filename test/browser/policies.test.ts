/** Policies through the window: written with help, tried on what has happened, explained, and who may do what. */
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newTestKey, newWallet, resultOf } from '../support/support.ts';
import { sharedChromium, openWindow } from './support/chromium.ts';
import { axeFindings, tooWideFindings } from './support/inspect.ts';
import { serveDevVault } from './support/service.ts';
import { button, chooseSegment, exportFrom, goTo, heading, lock } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

const editor = (page: Page, label: string) => page.getByRole('textbox', { name: label, exact: true });
const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name });

describe('a policy', () => {
  test('that no sentence says is listed with all of its text', async () => {
    await using service = await serveDevVault();
    const policy = {
      policyName: 'By two, until March',
      effect: 'EFFECT_ALLOW',
      condition: '',
      consensus: 'approvers.count() >= 2 || approvers.count() >= 3',
      time: "time.now < Timestamp('2026-03-01T00:00:00Z')",
      notes: '',
    };
    resultOf(await service.root.submit('create_policy', 'CREATE_POLICY_V3', policy));
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await goTo(page, 'Policies');
    const row = page.getByRole('link', { name: /^By two, until March/ });
    for (const text of ['everything', policy.consensus, policy.time]) await row.getByText(text).waitFor();
  });

  test('is shown as it is now after an unlock, and not as a draft of its earlier text', async () => {
    await using service = await serveDevVault();
    const { root } = service;
    const { policyId } = resultOf(
      await root.submit('create_policy', 'CREATE_POLICY_V3', {
        policyName: 'Rule',
        effect: 'EFFECT_ALLOW',
        condition: "wallet.id == 'earlier'",
        consensus: 'approvers.count() >= 2 || approvers.count() >= 3',
        notes: '',
      }),
    );
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await goTo(page, 'Policies');
    await page.getByRole('link', { name: /^Rule/ }).click();
    await editor(page, 'Condition').waitFor();
    await lock(page);
    await page.getByRole('textbox', { name: /Recovery phrase/ }).fill(service.recoveryPhrase);
    await button(page, 'Unlock').click();
    await editor(page, 'Condition').waitFor();

    const change = { policyId, policyName: 'Rule of now', policyCondition: "wallet.id == 'now'" };
    resultOf(await root.submit('update_policy', 'UPDATE_POLICY_V2', change));
    await heading(page, 'Rule of now').waitFor();
    await expect.poll(() => editor(page, 'Condition').inputValue()).toBe("wallet.id == 'now'");
    expect(await editor(page, 'Name').inputValue()).toBe('Rule of now');
  });

  test('is written with help, tried, made, changed and deleted', async () => {
    await using service = await serveDevVault();
    const { walletId, ethereum } = await newWallet(service.root, 'Savings');
    await service.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
      signWith: ethereum,
      payload: 'hello',
      encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
      hashFunction: 'HASH_FUNCTION_KECCAK256',
    });
    await using person = await openWindow(browser);
    const { page } = person;
    const found: string[] = [];
    const look = async (screen: string): Promise<void> => {
      found.push(...(await axeFindings(page, screen)));
    };
    await page.goto(service.windowUrl);
    await goTo(page, 'Policies');
    await page.getByRole('heading', { name: 'No policies yet' }).waitFor();
    await look('policies-empty');

    // A template leaves open what only its user knows, and is not made like that.
    await page.getByRole('link', { name: /^One user signs with one wallet/ }).click();
    await heading(page, 'Create policy').waitFor();
    await button(page, 'Create policy').click();
    await page.getByText('Choose the users or a tag. Choose the wallets or keys.').first().waitFor();

    // As text, what is missing is marked.
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Sign with a wallet');
    await chooseSegment(page, 'Edit as', 'Text');
    await page.getByText('Replace each “…” first: Condition and Consensus.').first().waitFor();

    // Keywords, fields and names of the vault are offered; the keyboard takes them.
    const condition = editor(page, 'Condition');
    await condition.fill('');
    await condition.pressSequentially('activ');
    await option(page, /^activity/).waitFor();
    await look('policy-suggestions');
    await condition.press('Enter');
    await condition.pressSequentially('.act');
    await option(page, /^action/).waitFor();
    await condition.press('Enter');
    await condition.pressSequentially(" == 'SI");
    await option(page, /^SIGN/).waitFor();
    await condition.press('Enter');
    await condition.pressSequentially("' && wallet.id == 'Sav");
    await option(page, /^Savings/).click();
    await condition.pressSequentially("'");
    await expect
      .poll(() => condition.inputValue())
      .toBe(`activity.action == 'SIGN' && wallet.id == '${walletId}'`);

    await page.getByText(/^With names: activity.action == 'SIGN' && wallet.id == 'Savings'$/).waitFor();
    await look('policy-with-names');
    // While one types, the field has the ids, and a description with the names. Otherwise it shows the names itself.
    const pill = page.locator('.kh-expression .kh-policy-name').filter({ hasText: 'Savings' });
    expect(await pill.isVisible()).toBe(false);
    await editor(page, 'Consensus').focus();
    await pill.waitFor();
    expect(await page.locator('.kh-expression-marks').first().innerText()).toBe(
      "activity.action == 'SIGN' && wallet.id == 'Savings'",
    );
    await look('policy-with-pills');
    await condition.focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('ControlOrMeta+c');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(walletId);

    // An error is shown at its position.
    const consensus = editor(page, 'Consensus');
    await consensus.fill('approvers.cont() >= 1');
    await page.getByText(/^line 1, column 11: expected a method/).waitFor();
    expect(await page.locator('.kh-expression-marks mark').innerText()).toBe('cont');
    await look('policy-wrong');

    // The class: an expression reads as it is decided. Letters from right to left move nothing, and what is hidden is shown.
    await consensus.fill("'אבג' == 'דה' && 1 == 2 || '\u202e'");
    expect(new Set(await ordersOf(page))).toEqual(new Set(['in order']));
    await page.getByText(/^Reads: .*⟨U\+202E⟩/).waitFor();
    await condition.focus();
    expect(await page.locator('.kh-expression-marks').nth(1).innerText()).toContain('⟨U+202E⟩');
    expect(new Set(await ordersOf(page))).toEqual(new Set(['in order']));
    await consensus.fill('approvers.count() >= 1');
    await expect.poll(() => page.locator('.kh-expression-marks mark').count()).toBe(0);

    await button(page, 'Test').click();
    await page.getByText(/^2 activities tested\. 1 newly allowed\.$/).waitFor();
    // The bars and their table count each activity once.
    const decisions = page.getByRole('table', { name: 'Decisions' });
    const counts = async (name: string): Promise<number> =>
      (await decisions.getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts())
        .map(Number)
        .reduce((sum, count) => sum + count, 0);
    expect([await counts('Before'), await counts('After')]).toEqual([2, 2]);
    await page.getByText('Matched 1 of 2 activities and decided 1.').waitFor();
    await button(page, 'Details: Sign a payload').click();
    await page.getByText('Allowed by “Sign with a wallet”.').last().waitFor();
    await look('policy-tried');

    // Any user may be the one approver: this is asked about.
    await button(page, 'Create policy').click();
    const question = page.getByRole('dialog', { name: 'This policy reaches far' });
    await question.getByText('Every user may use this policy alone').waitFor();
    await look('policy-reaches-far');
    await button(question, 'Confirm').click();
    await exportFrom(
      page.getByRole('dialog', { name: 'Confirm it’s you' }),
      'Confirm',
      service.recoveryPhrase,
    );
    await heading(page, 'Policies').waitFor();
    await page.getByText('Lets any user sign anything with Savings.').waitFor();
    await look('policies');
    await page.getByRole('link', { name: /^Sign with a wallet/ }).click();
    await heading(page, 'Sign with a wallet').waitFor();
    // The form shows what it can, and says the same as text.
    await page.getByRole('combobox', { name: 'Names of wallets' }).waitFor();
    await chooseSegment(page, 'Edit as', 'Text');
    await chooseSegment(page, 'Effect', 'Deny');
    await consensus.fill('');
    await button(page, 'Save changes').click();
    await page.getByText('Policy updated').waitFor();
    const { body } = await service.root.query('list_policies');
    expect(body?.['policies']).toMatchObject([
      { effect: 'EFFECT_DENY', consensus: '', condition: expect.stringContaining(walletId) as string },
    ]);
    await button(page, 'Undo').click();
    await page.getByText('Undone').waitFor();
    const undone = await service.root.query('list_policies');
    expect(undone.body?.['policies']).toMatchObject([
      { effect: 'EFFECT_ALLOW', consensus: expect.not.stringMatching(/^$/) as string },
    ]);
    await button(page, 'Delete…').click();
    await page.getByRole('textbox', { name: 'Type the name to confirm' }).fill('Sign with a wallet');
    await button(page, 'Delete policy').click();
    await page.getByRole('heading', { name: 'No policies yet' }).waitFor();
    expect(found).toEqual([]);
    expect(person.violations).toEqual([]);
    expect(person.complaints).toEqual([]);
  });
});

describe('who may do what', () => {
  test('shows for every user the result, with the policies behind it', async () => {
    await using service = await serveDevVault();
    const key = newTestKey();
    const created = await service.root.submit('create_users', 'CREATE_USERS_V4', {
      users: [
        {
          userName: 'Script',
          apiKeys: [{ apiKeyName: 'Script', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    });
    const userIds = resultOf(created).userIds;
    const refused = await service.root.as(key).submit('create_user_tag', 'CREATE_USER_TAG', {
      userTagName: 'Mine',
      userIds: [],
    });
    expect(refused.status).toBe(403);
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Make wallets',
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'CREATE_WALLET'",
      notes: '',
    });
    await service.root.submit('create_policy', 'CREATE_POLICY_V3', {
      policyName: 'Of many parts',
      effect: 'EFFECT_ALLOW',
      condition: Array(100).fill("activity.kind == 'CREATE_WALLET'").join(' || '),
      notes: '',
    });
    await using person = await openWindow(browser);
    const { page } = person;
    await page.goto(service.windowUrl);
    await goTo(page, 'Policies');
    await button(page, 'Details: Create a user tag').click();
    await page.getByText('Denied: no policy allows this.').waitFor();
    // An explanation that was cut says so.
    await page.locator('summary').filter({ hasText: 'Of many parts' }).click();
    await page.getByText(/^[0-9]+ more parts$/).waitFor();
    expect(await axeFindings(page, 'policies-refused')).toEqual([]);
    await page.getByRole('link', { name: 'Permissions' }).click();
    const matrix = page.getByRole('table', { name: 'Permissions' });
    const row = (name: string) =>
      matrix.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
    // A column for each user, by what the service answers for each of them.
    await expect
      .poll(() => row('Create a wallet').innerText())
      .toMatch(/Create a wallet\s+Yes\s+Make wallets\s+Of many parts\s+Yes, root/);
    expect(await row('Create a wallet').getByRole('link', { name: 'Make wallets' }).count()).toBe(1);
    await expect.poll(() => row('Delete wallets').innerText()).toMatch(/Delete wallets\s+No\s+Yes, root/);
    const { body } = await service.root.query('list_permissions', { userId: userIds[0] });
    const all = (body as { permissions: readonly unknown[] }).permissions.length;
    expect(await matrix.getByRole('rowheader').count()).toBe(all + 6);
    await page.getByText(`${String(all)} of ${String(all)} activities`).waitFor();
    // A filter says what it hides.
    await page.getByRole('combobox', { name: 'Area' }).selectOption('Export');
    await page.getByText(`4 of ${String(all)} activities`).waitFor();
    await page.getByRole('checkbox', { name: 'Hide what none of them may do' }).check();
    await page.getByText(`4 of ${String(all)} activities`).waitFor();
    await button(page, 'Show all').click();
    await page.getByText(`${String(all)} of ${String(all)} activities`).waitFor();
    expect(await axeFindings(page, 'permissions')).toEqual([]);
    // Headers stay where they are while the rest scrolls by.
    await page.setViewportSize({ width: 360, height: 700 });
    const scrolled = await matrix.evaluate((table) => {
      table.parentElement?.scrollTo(40, 700);
      return [table.parentElement?.scrollLeft, table.parentElement?.scrollTop];
    });
    expect(scrolled).toEqual([40, 700]);
    const place = await page.getByRole('group', { name: 'Permissions' }).boundingBox();
    const user = await matrix.getByRole('columnheader', { name: 'Root user' }).boundingBox();
    expect(user?.y).toBe(place?.y);
    const activity = await matrix.getByRole('rowheader', { name: 'Delete wallets' }).boundingBox();
    expect(activity?.x).toBe(place?.x);
    expect(await tooWideFindings(page, 'permissions')).toEqual([]);
  });
});

/** Finds a character of an expression that does not stand to the right of the one before it. */
const ordersOf = (page: Page): Promise<readonly string[]> =>
  page.locator('.kh-expression').evaluateAll((editors) =>
    editors.map((editor) => {
      const field = editor.querySelector('textarea');
      const layer = editor.querySelector('.kh-expression-marks');
      if (field === null || layer === null) return 'no field';
      const styles = [field, layer].map((element) => {
        const { direction, unicodeBidi } = getComputedStyle(element);
        return `${direction} ${unicodeBidi}`;
      });
      if (styles.some((style) => style !== 'ltr isolate-override')) return styles.join();
      const texts = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
      let [right, bottom] = [-Infinity, -Infinity];
      while (texts.nextNode() !== null) {
        const { length } = texts.currentNode.textContent ?? '';
        for (let at = 0; at < length; at++) {
          const range = document.createRange();
          range.setStart(texts.currentNode, at);
          range.setEnd(texts.currentNode, at + 1);
          const box = range.getBoundingClientRect();
          if (box.width === 0) continue;
          if (box.top < bottom - 1 && box.left < right - 1)
            return `${String(at)} of ${texts.currentNode.textContent ?? ''}`;
          [right, bottom] = [box.right, box.bottom];
        }
      }
      return 'in order';
    }),
  );

/**
 * The signed content is shown as it is: the window lays out each character of a description in the service's
 * order, and foreign names hide nothing and move nothing around them, at every address of the window.
 */
import type { Browser, Locator } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../support/new-secret.ts';
import { activityOf, allowByVotes, ethereumAccount, newTestKey, resultOf } from '../support/support.ts';
import type { Json, TestClient } from '../support/support.ts';
import { sharedChromium, openWindow, openHome } from './support/chromium.ts';
import { axeFindings, tooWideFindings, visit } from './support/inspect.ts';
import { addressesOf, furnish, patterns } from './support/places.ts';
import { serveDevVault } from './support/service.ts';
import { button, heading, sendVote } from './support/steps.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await sharedChromium();
});

interface Line {
  readonly label: string;
  readonly value: string;
}

interface Description {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly parts: readonly { readonly title: string; readonly lines: readonly Line[] }[];
  readonly warnings: readonly string[];
  readonly digests: readonly Line[];
}

async function descriptionOf(root: TestClient, request: Json): Promise<Description> {
  const { body } = await root.query('describe_payload', request);
  return body?.['description'] as Description;
}

/** Its texts from top to bottom, as the window has them. */
const textsOf = ({ title, lines, parts, warnings, digests }: Description): readonly string[] => {
  const each = (line: Line) => [line.label, line.value];
  return [
    title,
    ...warnings,
    ...lines.flatMap(each),
    ...parts.flatMap((part) => [part.title, ...part.lines.flatMap(each)]),
    ...digests.flatMap(each),
  ];
};

interface LaidOut {
  /** As the page has them. */
  readonly texts: readonly string[];
  /** Characters that are not after the one before, have no room, or are out of sight. */
  readonly faults: readonly string[];
}

/** Measures the position of each character of a description. */
const laidOut = (summary: Locator): Promise<LaidOut> => summary.evaluate(lookAtCharacters);

/** Runs in the page. */
function lookAtCharacters(summary: Element): LaidOut {
  const faults: string[] = [];
  const texts: string[] = [];
  const range = document.createRange();
  for (const exact of summary.querySelectorAll<HTMLElement>('.kh-exact')) {
    texts.push(exact.textContent);
    const edge = summary.getBoundingClientRect();
    let bottom = Number.NEGATIVE_INFINITY;
    for (const line of exact.children) {
      // Only a line that has nothing but letters of its direction runs from right to left.
      const isRight = line.getAttribute('dir') === 'rtl';
      if (isRight && /[^\p{Script=Hebrew}\p{Script=Arabic}\p{P}\p{Z}\p{M}]/u.test(line.textContent)) {
        faults.push(`${JSON.stringify(line.textContent)} runs from the right`);
      }
      let before: DOMRect | undefined;
      let first = true;
      const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        let at = 0;
        for (const { segment } of new Intl.Segmenter('und').segment(node.textContent ?? '')) {
          range.setStart(node, at);
          range.setEnd(node, (at += segment.length));
          const rect = range.getBoundingClientRect();
          const named = `${JSON.stringify(segment)} in ${JSON.stringify(line.textContent.slice(0, 60))}`;
          if (rect.width === 0 || rect.height === 0) faults.push(`${named} has no room`);
          if (rect.left < edge.left - 1 || rect.right > edge.right + 1)
            faults.push(`${named} is out of sight`);
          if (first && rect.top < bottom - 1) faults.push(`${named} is not on a line of its own`);
          first = false;
          const isSameRow = before !== undefined && Math.abs(rect.top - before.top) < rect.height / 2;
          if (before !== undefined && !isSameRow && rect.top < before.top) faults.push(`${named} is above`);
          if (before !== undefined && isSameRow) {
            const follows = isRight ? rect.right <= before.left + 1 : rect.left >= before.right - 1;
            if (!follows) faults.push(`${named} is not after the one before it`);
          }
          before = rect;
        }
      }
      bottom = before?.bottom ?? bottom;
    }
  }
  return { texts, faults };
}

const deceiving = [
  ['a right-to-left override', '05\u202e$'],
  ['an isolate', 'to \u2067me\u2069 5'],
  ['what has no width', 'pay\u200bpal\u2060'],
  ['line ends of all kinds', 'a\r\nb\n\nc\n'],
  ['runs of blanks', 'two  blanks   and  more'],
  ['blanks at both ends', '  around  '],
  ['blanks that would break a line', `a${' '.repeat(400)}b`],
  ['blanks of other kinds', 'a\u00a0b\u3000c\u2800'],
  ['letters from right to left among digits', 'pay 05$ to א7ב, 100'],
  ['letters in an address', '0x35אב35'],
  ['letters from right to left alone', 'שלום, עולם'],
  ['letters that join', 'سلام يا عالم'],
  ['an accent apart', 'e\u0301 and é'],
  ['the marks themselves', '⟨U+202E⟩'],
  ['signs that a typeface joins', 'a != b -> c => fi ffi <= d'],
  ['pictures', 'I ❤️ 👩‍💻'],
  ['a long text', `${'long word '.repeat(300)}${'x'.repeat(3000)}`],
  ['more than is shown', 'y'.repeat(20_000)],
] as const;

const asText = { encoding: 'PAYLOAD_ENCODING_TEXT_UTF8', hashFunction: 'HASH_FUNCTION_SHA256' };

test('each character of a text is rendered in the order that is signed', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const made = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount],
  });
  const [signWith] = resultOf(made).addresses;
  await using person = await openHome(service.windowUrl);
  const { page } = person;
  const amiss: string[] = [];
  for (const [what, payload] of deceiving) {
    const request = { ...asText, payload, signWith };
    const signed = activityOf(await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', request));
    const description = await descriptionOf(root, request);
    await visit(page, `/activity/${signed.id}`);
    const summary = page.getByRole('dialog').getByRole('region', { name: 'Summary' });
    await summary.waitFor();
    const { texts, faults } = await laidOut(summary);
    expect(texts, what).toEqual(textsOf(description));
    expect(faults, what).toEqual([]);
    amiss.push(...(await tooWideFindings(page, what)));
  }
  amiss.push(...(await axeFindings(page, 'one-reading-text')));
  expect(amiss).toEqual([]);
  expect(person.complaints).toEqual([]);
});

const batch = (count: number): string =>
  JSON.stringify({
    types: {
      EIP712Domain: [{ name: 'name', type: 'string' }],
      Batch: [{ name: 'items', type: 'Item[]' }],
      Item: [
        { name: 'note', type: 'string' },
        { name: 'amount', type: 'uint256' },
      ],
    },
    primaryType: 'Batch',
    domain: { name: 'Shop\u202e 05$' },
    message: {
      items: Array.from({ length: count }, (_, index) => ({
        note: `  ${String(index)}\u202e א 5\nline`,
        amount: String(index),
      })),
    },
  });

test('all of a long list is read before it is approved, to its last row', async () => {
  await using service = await serveDevVault();
  const { root } = service;
  const key = newTestKey();
  const ben = {
    userName: 'Ben',
    apiKeys: [{ apiKeyName: 'key', publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  };
  activityOf(await root.submit('create_users', 'CREATE_USERS_V3', { users: [ben] }));
  await allowByVotes(root, 'By two', "activity.action == 'SIGN'", 2);
  const made = await root.submit('create_wallet', 'CREATE_WALLET', {
    walletName: 'Everyday',
    accounts: [ethereumAccount],
  });
  const request = {
    signWith: resultOf(made).addresses[0],
    payload: batch(300),
    encoding: 'PAYLOAD_ENCODING_EIP712',
    hashFunction: 'HASH_FUNCTION_NO_OP',
  };
  const asked = activityOf(await root.as(key).submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', request));
  const description = await descriptionOf(root, request);
  const count = description.parts.reduce(
    (sum, part) => sum + 1 + part.lines.length,
    description.lines.length,
  );
  expect(count).toBeGreaterThan(600);

  await using person = await openWindow(browser);
  const { page } = person;
  await page.clock.install();
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  await visit(page, `/approvals/${asked.id}`);
  const drawer = page.getByRole('dialog');
  const summary = drawer.getByRole('region', { name: 'Summary' });
  await summary.getByText(`${String(count - 200)} more rows`).waitFor();
  await drawer.getByText('Review 1 more payload').waitFor();
  expect(await button(drawer, 'Approve once').isDisabled()).toBe(true);
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  await button(summary, `Show all ${String(count)} rows`).click();
  await drawer.getByText('Review 1 more payload').waitFor({ state: 'hidden' });
  const { texts, faults } = await laidOut(summary);
  expect(texts).toEqual(textsOf(description));
  expect(faults).toEqual([]);
  const statusOf = async () => activityOf(await root.query('get_activity', { activityId: asked.id })).status;
  expect(await statusOf()).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
  await button(drawer, 'Approve once').click();
  await sendVote(page);
  await page.getByText('No pending requests').waitFor();
  expect(await statusOf()).toBe('ACTIVITY_STATUS_COMPLETED');
  expect(person.complaints).toEqual([]);
});

describe('what others named', () => {
  /** A blank that is not a space, and after it letters that would move the digits that follow. */
  const hidden = '\u00a0';
  const deceive = (what: string): string => `${what}${hidden}א5`;

  test('hides nothing and moves nothing around it, at every address', async () => {
    await using service = await serveDevVault();
    let named = 0;
    const values = await furnish(service, (what) => deceive(`${what} ${String((named += 1))}`));
    const keyslots = { keyslotId: '00000000-0000-4000-8000-000000000000', template: 'two-approvals' };
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    const found = new Map<string, string>();
    let shown = 0;
    for (const address of patterns.flatMap((pattern) => addressesOf(pattern, { ...keyslots, ...values }))) {
      await visit(page, address);
      const look = await page.evaluate(lookAtNames, hidden);
      shown += look.shown;
      for (const each of look.found) found.set(each, found.get(each) ?? address);
    }
    expect([...found].map(([each, address]) => `${address}: ${each}`)).toEqual([]);
    expect(shown).toBeGreaterThan(50);
  });

  test('leaves each screen its width, and is whole where no other screen has it', async () => {
    await using service = await serveDevVault();
    const { root } = service;
    const long = 'W'.repeat(64);
    resultOf(await root.submit('create_user_tag', 'CREATE_USER_TAG', { userTagName: long, userIds: [] }));
    const users = [
      { userName: 'W'.repeat(255), apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] },
    ];
    resultOf(await root.submit('create_users', 'CREATE_USERS_V3', { users }));
    const scope = `${"wallet.id == 'a' || ".repeat(100)}true`;
    const profile = { sessionProfileName: long, scope };
    resultOf(await root.submit('create_session_profile', 'CREATE_SESSION_PROFILE', profile));
    const secretId = await newSecret(root, long);
    await using person = await openHome(service.windowUrl);
    const { page } = person;
    const found: string[] = [];
    for (const address of [`/secrets/${secretId}`, '/users/new', '/policies/permissions', '/sessions']) {
      await visit(page, address);
      found.push(...(await tooWideFindings(page, address)));
    }
    const shown = await page.getByText(scope, { exact: true }).boundingBox();
    expect(shown?.width).toBeLessThan(page.viewportSize()?.width ?? 0);
    expect(found).toEqual([]);
  });

  /** Runs in the page. */
  function lookAtNames(hiddenCharacters: string): {
    readonly found: readonly string[];
    readonly shown: number;
  } {
    const found: string[] = [];
    let shown = 0;
    const look = (text: string, where: string): void => {
      if (Array.from(hiddenCharacters).some((character) => text.includes(character))) {
        found.push(`${JSON.stringify(text)} hides something in ${where}`);
      }
      if (!text.includes('א')) return;
      shown += 1;
      if (text.replaceAll(/\u2068[^\u2068\u2069]*\u2069/g, '').includes('א')) {
        found.push(`${JSON.stringify(text)} is not isolated in ${where}`);
      }
    };
    look(document.title, 'the title');
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement;
      // Text that is laid out by character needs no isolation.
      if (parent?.closest('script, style, textarea, .kh-exact, .kh-json') !== null) continue;
      look(node.textContent ?? '', 'a text');
    }
    for (const element of document.body.querySelectorAll('*')) {
      for (const name of ['aria-label', 'aria-description', 'title', 'placeholder', 'alt', 'data-hint']) {
        const text = element.getAttribute(name);
        if (text !== null) look(text, `${name} of ${element.outerHTML.slice(0, 60)}`);
      }
    }
    return { found, shown };
  }
});

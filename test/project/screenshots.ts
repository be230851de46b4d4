// `npm run screenshots`: takes the pictures of README.md and of the documentation, in light and in dark, of a real service in real Chromium. Names are
// made up, ids and keys follow from a seed, the clock stands still and the fonts are open ones, so that a picture changes when
// the window does.
import { createECDH, createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { parseEther, serializeTransaction } from 'viem';
import { openForm, writePolicy } from '../../main/lib/policies/policy-form.ts';
import { launchChromium, openWindow } from '../browser/support/chromium.ts';
import { serveDevVault } from '../browser/support/service.ts';
import { button, heading } from '../browser/support/steps.ts';
import { activityOf, ethereumAccount, resultOf, solanaAccount, testKeyOf } from '../support/support.ts';
import type { Json, TestKey } from '../support/support.ts';

const pictures = join(import.meta.dirname, '../../docs/screens');

/** The port that Keyhearth has by itself, so that the pictures show it. */
const port = 7377;

const hour = 3_600_000;

/** A Tuesday morning. */
const now = Date.UTC(2026, 2, 10, 9, 30);

/** A key that is the same in each run. */
function keyOf(name: string): TestKey {
  const ecdh = createECDH('prime256v1');
  const secret = createHash('sha256').update(name).digest();
  ecdh.setPrivateKey(secret);
  return testKeyOf(secret.toString('hex'), ecdh.getPublicKey('hex', 'compressed'));
}

const bitcoinAccount = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/84'/0'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH',
} as const;

await using service = await serveDevVault(['--seed', 'screens', '--clock', 'fixed', '--port', String(port)]);
const { root } = service;

const at = async (time: number): Promise<void> => {
  const answer = await fetch(`${service.url}/dev/clock`, {
    method: 'POST',
    body: JSON.stringify({ now: time }),
  });
  if (!answer.ok) throw new Error(`the clock did not move: ${await answer.text()}`);
};
const made = async (path: string, type: string, parameters: Json): Promise<Json> =>
  resultOf(await root.submit(path, type, parameters));
const userOf = (userName: string, keyName: string): Json => ({
  userName,
  userEmail: `${userName.toLowerCase()}@example.org`,
  apiKeys: [{ apiKeyName: keyName, publicKey: keyOf(userName).publicKey, curveType: 'API_KEY_CURVE_P256' }],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
});

await at(now - 40 * 24 * hour);
await made('update_organization_name', 'UPDATE_ORGANIZATION_NAME', { organizationName: 'Home' });
const { users } = (await root.query('list_users')).body as {
  readonly users: readonly { readonly userId: string }[];
};
await made('update_user', 'UPDATE_USER', { userId: users[0]?.userId, userName: 'Ann', userTagIds: [] });
const savings = await made('create_wallet', 'CREATE_WALLET', {
  walletName: 'Savings',
  accounts: [
    { ...ethereumAccount, name: 'Everyday' },
    { ...ethereumAccount, path: "m/44'/60'/0'/0/1", name: 'For the roof' },
    bitcoinAccount,
    solanaAccount,
  ],
});
const [everyday = ''] = savings['addresses'] as readonly string[];
await at(now - 12 * 24 * hour);
await made('create_users', 'CREATE_USERS_V3', { users: [userOf('Ben', 'Ben’s laptop')] });
await made('create_users', 'CREATE_USERS_V3', { users: [userOf('Payroll', 'payroll.ts')] });
await at(now - 6 * 24 * hour);
await made('create_private_keys', 'CREATE_PRIVATE_KEYS_V2', {
  privateKeys: [
    { privateKeyName: 'Releases', curve: 'CURVE_ED25519', addressFormats: [], privateKeyTags: [] },
  ],
});
const policy = await made('create_policy', 'CREATE_POLICY_V3', {
  policyName: 'Payments by two',
  ...writePolicy({
    ...openForm,
    agreements: [{ count: 2, of: { kind: 'anyone' } }],
    payment: {
      chainId: '1',
      token: null,
      receivers: null,
      limits: [{ amount: parseEther('2').toString(), window: '24h', by: ['key'] }],
      fees: [],
    },
  }),
  notes: 'The requester is one of the two.',
});
const pay = async (to: string, ether: string, nonce: number): Promise<string> =>
  activityOf(
    await root.as(keyOf('Ben')).submit('sign_transaction', 'SIGN_TRANSACTION_V2', {
      signWith: everyday,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeTransaction({
        type: 'eip1559',
        chainId: 1,
        nonce,
        gas: 21_000n,
        maxFeePerGas: 12_000_000_000n,
        maxPriorityFeePerGas: 1_000_000_000n,
        to: to as `0x${string}`,
        value: parseEther(ether),
      }),
    }),
  ).id;
for (const [index, text] of ['Good morning', 'Statement for February', 'Good night'].entries()) {
  await at(now - (50 - 20 * index) * hour);
  await root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
    signWith: everyday,
    payload: text,
    encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
    hashFunction: 'HASH_FUNCTION_KECCAK256',
  });
}
await at(now - 2 * hour);
const payment = await pay('0x52908400098527886E0F7030069857D2E4169EE7', '0.42', 17);
await at(now - 25 * 60_000);
await pay('0x8617E340B3D01FA5F11F306F4090FD50E238070D', '1.5', 18);
await at(now);

/** Each picture: where it is taken, and what must be on the screen by then. */
const screens: readonly {
  readonly name: string;
  readonly address: string;
  readonly ready: (page: Page) => Promise<unknown>;
}[] = [
  { name: 'home', address: '/', ready: (page) => heading(page, 'Home').waitFor() },
  {
    name: 'wallet',
    address: `/wallets/${savings['walletId'] as string}`,
    ready: (page) => page.getByText('For the roof').waitFor(),
  },
  {
    name: 'approval',
    address: `/approvals/${payment}`,
    ready: async (page) => {
      await page.getByRole('heading', { name: /^Send 0\.42 ETH/ }).waitFor();
      await page.getByText('“Payments by two” needs more approvals').waitFor();
    },
  },
  {
    name: 'policy',
    address: `/policies/${policy['policyId'] as string}`,
    ready: async (page) => {
      await button(page, 'Test').click();
      await page.getByText(/activities tested/).waitFor();
      await page.evaluate(() => {
        window.scrollTo(0, 0);
      });
    },
  },
  {
    name: 'activity',
    address: '/activity',
    ready: (page) =>
      page
        .getByRole('link', { name: /^Sign a transaction/ })
        .first()
        .waitFor(),
  },
];

/** A picture is the same on each computer. The window itself has the system's fonts: another would be a large part of its first load. */
const fonts = [
  {
    variables: ['--mantine-font-family', '--mantine-font-family-headings'],
    family: 'Inter Variable',
    file: import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'),
  },
  {
    variables: ['--mantine-font-family-monospace'],
    family: 'JetBrains Mono Variable',
    file: import.meta
      .resolve('@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'),
  },
];

async function useOpenFonts(page: Page): Promise<void> {
  for (const { variables, family, file } of fonts) {
    const bytes = (await readFile(fileURLToPath(file))).toString('base64');
    await page.evaluate(
      async (font) => {
        // From bytes and not from an address: the window's policy allows no foreign font.
        const content = Uint8Array.from(atob(font.bytes), (byte) => byte.charCodeAt(0));
        document.fonts.add(await new FontFace(font.family, content, { weight: '100 900' }).load());
        for (const variable of font.variables) {
          document.documentElement.style.setProperty(variable, `"${font.family}"`);
        }
      },
      { variables, family, bytes },
    );
  }
}

/** Half as large as a PNG of Chromium's: the pictures are in each package. */
async function asWebP(page: Page, png: Buffer): Promise<Buffer> {
  const encoded = await page.evaluate(async (text) => {
    const bytes = Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    canvas.getContext('bitmaprenderer')?.transferFromImageBitmap(picture);
    const webp = await canvas.convertToBlob({ type: 'image/webp', quality: 0.9 });
    return btoa(
      Array.from(new Uint8Array(await webp.arrayBuffer()), (byte) => String.fromCharCode(byte)).join(''),
    );
  }, png.toString('base64'));
  return Buffer.from(encoded, 'base64');
}

await mkdir(pictures, { recursive: true });
for (const old of await readdir(pictures)) await rm(join(pictures, old));
const browser = await launchChromium();
try {
  await using person = await openWindow(browser, { locale: 'en-US' });
  const { page } = person;
  await page.clock.setFixedTime(now);
  await page.goto(service.windowUrl);
  await heading(page, 'Home').waitFor();
  await useOpenFonts(page);
  for (const { name, address, ready } of screens) {
    await page.evaluate((hash) => {
      window.location.hash = hash;
    }, address);
    await ready(page);
    await page.waitForFunction(
      () => document.querySelector('.kh-loading, .kh-skeleton, [data-awaited]') === null,
    );
    // Nothing is pointed at, and no caret blinks.
    await page.mouse.move(0, 0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
      const picture = await asWebP(page, await page.screenshot({ animations: 'disabled' }));
      await writeFile(join(pictures, `${name}-${colorScheme}.webp`), picture);
    }
  }
  if (person.complaints.length > 0) throw new Error(person.complaints.join('\n'));
} finally {
  await browser.close();
}
console.log(`${String(2 * screens.length)} pictures are in ${pictures}`);

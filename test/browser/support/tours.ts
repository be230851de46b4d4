/** Tours of the window: through many screens in turn, with a call for each. */
import type { Page } from 'playwright-core';
import {
  button,
  choose,
  chooseSegment,
  confirmWhenAsked,
  exportFrom,
  goTo,
  heading,
  hold,
  knownWallet,
  leaveDialog,
  lock,
  makeWallet,
  openDialog,
} from './steps.ts';
import type { Look } from './steps.ts';

/** Every screen inside a vault that has nothing in it at first; it is locked at the end. */
export async function tour(page: Page, look: Look): Promise<void> {
  await emptyPlaces(page, look);
  await walletScreens(page, look);
  await privateKeyScreens(page, look);
  await signScreens(page, look);
  await activityScreens(page, look);
  await connectScreens(page, look);
  await unknownAddresses(page, look);
  await lock(page);
  await look('unlock');
}

async function emptyPlaces(page: Page, look: Look): Promise<void> {
  for (const [place, nothing] of [
    ['Private keys', 'No private keys yet'],
    ['Sign', 'No keys yet'],
    ['Activity', 'No activity yet'],
    ['Connect', 'Key with a budget'],
    ['Wallets', 'No wallets yet'],
  ] as const) {
    await goTo(page, place);
    await page.getByRole('heading', { name: nothing }).waitFor();
    await look(`${place.toLowerCase().replace(' ', '-')}-empty`);
  }
  const menu = button(page, 'Menu');
  if (!(await menu.isVisible())) return;
  await menu.click();
  await look('menu');
  await menu.click();
}

async function walletScreens(page: Page, look: Look): Promise<void> {
  await page.getByRole('link', { name: 'Create wallet' }).first().click();
  await page.getByRole('textbox', { name: 'Name' }).fill('');
  await page.getByText('Enter a name.').waitFor();
  await look('wallet-new');
  await button(page, 'More chains').click();
  await page.getByRole('checkbox', { name: 'Dogecoin testnet' }).waitFor();
  await look('wallet-new-all-chains');
  await goTo(page, 'Wallets');
  await makeWallet(page, 'Nothing in it', []);
  await page.getByRole('heading', { name: 'No accounts yet' }).waitFor();
  await look('wallet-empty');
  await goTo(page, 'Wallets');
  await makeWallet(page, 'A wallet whose name is as long as names are in a family of many', [
    'Ethereum',
    'Bitcoin',
    'Solana',
  ]);
  await page.getByRole('listitem').nth(2).waitFor();
  await look('wallet');
  await button(page, 'Show QR code of Solana address').click();
  const code = page.getByRole('dialog', { name: 'Solana address' });
  await code.waitFor();
  await look('wallet-qr');
  await button(code, 'Close').click();
  await code.waitFor({ state: 'hidden' });

  await button(page, 'Add account').click();
  const adding = page.getByRole('dialog', { name: 'Add account' });
  await adding.waitFor();
  await look('wallet-add-account');
  await page.getByRole('combobox', { name: 'Chain' }).click();
  await page.getByRole('option', { name: 'Another path or format' }).waitFor();
  await look('wallet-add-account-chains');
  await page.getByRole('combobox', { name: 'Chain' }).fill('ton');
  await page.getByRole('option', { name: 'TON, wallet v5' }).click();
  await adding.getByText("m/44'/607'/0'/0'/0'").waitFor();
  await page.getByRole('combobox', { name: 'Chain' }).fill('path');
  await page.getByRole('option', { name: 'Another path or format' }).click();
  await choose(page, 'Curve', /^Ed25519/);
  await adding.getByRole('textbox', { name: 'Path' }).fill("m/44'/501'/0");
  await adding.getByText('Ed25519 only derives hardened steps').waitFor();
  await look('wallet-add-account-refused');
  await button(adding, 'Cancel').click();
  await adding.waitFor({ state: 'hidden' });
  await goTo(page, 'Wallets');
  await page.getByRole('listitem').nth(1).waitFor();
  await look('wallets');
}

async function privateKeyScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Private keys');
  await page.getByRole('link', { name: 'Create private key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Release signing');
  await page.getByRole('checkbox', { name: 'Ethereum' }).check();
  await page.getByRole('checkbox', { name: 'Public key, uncompressed' }).check();
  await look('private-key-new');
  await button(page, 'More formats').click();
  await page.getByRole('checkbox', { name: 'Bitcoin Taproot', exact: true }).check();
  await look('private-key-new-all-forms');
  await button(page, 'Create private key').click();
  await heading(page, 'Release signing').waitFor();
  await look('private-key');
  await goTo(page, 'Private keys');
  await page.getByRole('listitem').first().waitFor();
  await look('private-keys');
}

async function signScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Sign');
  await choose(page, 'Wallet', 'Nothing in it');
  await page.getByPlaceholder('No accounts in this wallet').waitFor();
  await look('sign-no-account');
  await choose(page, 'Wallet', /^A wallet whose name/);
  await page.getByRole('textbox', { name: 'Payload' }).fill('0xabc');
  await button(page, /^Sign$/).click();
  await page.getByText('Add or remove one digit').waitFor();
  await look('sign-refused');
  await chooseSegment(page, 'Key type', 'Private key');
  await page.getByRole('textbox', { name: 'Payload' }).fill('A text of several words, '.repeat(8));
  await page.getByRole('region', { name: 'Summary' }).waitFor();
  await look('sign');
  await button(page, /^Sign$/).click();
  await page.getByRole('region', { name: 'Signed' }).waitFor();
  await look('signed');
}

async function activityScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Activity');
  await page.getByRole('listitem').nth(3).waitFor();
  await look('activity');
  await page.getByRole('link', { name: /Sign a payload/ }).click();
  const detail = page.getByRole('dialog', { name: 'Activity' });
  await detail.getByText('As the API has it').click();
  await detail.getByRole('region', { name: 'Result, as JSON' }).waitFor();
  await look('activity-detail');
  await button(detail, 'Close').click();
  await detail.waitFor({ state: 'hidden' });
  await choose(page, 'Status', 'Rejected');
  await page.getByRole('heading', { name: 'No matching activity' }).waitFor();
  await look('activity-none-of-this-kind');
}

async function connectScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Connect');
  await chooseSegment(page, 'Permissions', 'Everything');
  await look('connect-everything');
  await page.getByRole('textbox', { name: 'Name' }).fill('Payroll script');
  await button(page, 'Create key').click();
  await page.getByRole('heading', { name: '“Payroll script” is ready' }).waitFor();
  await look('connect-made');
  await hold(button(page, 'Show the private key'));
  await page.getByRole('tab', { name: 'TypeScript' }).click();
  await look('connect-shown');
  await page.getByRole('tab', { name: 'Command line' }).click();
  await look('connect-command-line');
}

/** The ways in that a locked vault refuses; it stays locked. */
export async function refusedUnlocks(page: Page, look: Look): Promise<void> {
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('not the password');
  await button(page, 'Unlock').click();
  await page.getByRole('alert').filter({ hasText: 'Couldn’t unlock the vault' }).waitFor();
  await look('unlock-refused');
  await chooseSegment(page, 'Unlock with', 'Recovery phrase');
  await page.getByRole('textbox', { name: 'Recovery phrase' }).fill('abandon '.repeat(23));
  await button(page, 'Unlock').click();
  await page.getByText('A recovery phrase has 24 words; you entered 23.').waitFor();
  await look('unlock-phrase');
}

/** Every screen on which things are brought in, taken out, named, sorted and deleted, in a vault with nothing in it. */
export async function manageTour(page: Page, look: Look, phrase: string): Promise<void> {
  await confirmWhenAsked(page, phrase);
  await goTo(page, 'Tags');
  await look('tags-empty');
  await manageWalletScreens(page, look, phrase);
  await managePrivateKeyScreens(page, look, phrase);
  await userScreens(page, look);
  await tagScreens(page, look);
  await organizationScreens(page, look);
  await subOrganizationScreens(page, look);
}

/** Two sub-organizations: one that this window may act in and deletes, and one that it only reads. */
async function subOrganizationScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Sub-organizations');
  await page.getByText('No sub-organizations').waitFor();
  await look('sub-organizations-empty');
  await page.getByRole('link', { name: 'New sub-organization' }).click();
  await heading(page, 'New sub-organization').waitFor();
  await button(page, 'Create sub-organization').click();
  await page.getByText('Enter a name.').first().waitFor();
  await look('sub-organization-new-refused');
  await page.getByRole('textbox', { name: 'Name' }).fill('Customer 1');
  await page.getByRole('textbox', { name: 'First user' }).fill('Grace');
  await button(page, 'Create sub-organization').click();
  await heading(page, 'Customer 1').waitFor();
  await page.getByText('Grace alone has full access.').waitFor();
  await look('sub-organization');

  await goTo(page, 'Sub-organizations');
  await page.getByRole('link', { name: 'New sub-organization' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Customer 2');
  await page.getByRole('textbox', { name: 'First user' }).fill('Joan');
  await page.getByRole('checkbox', { name: 'This window may sign for the user too' }).uncheck();
  await button(page, 'Create sub-organization').click();
  await page.getByText('Enter an API key, email address or phone number').waitFor();
  await page.getByRole('textbox', { name: 'Email' }).fill('joan@example.org');
  await button(page, 'Create sub-organization').click();
  await heading(page, 'Customer 2').waitFor();
  await page.getByText('Only its own users may delete the sub-organization').waitFor();

  await goTo(page, 'Sub-organizations');
  const list = page.getByRole('list', { name: 'Sub-organizations' });
  await list.getByText('Customer 2').waitFor();
  await look('sub-organizations');
  await page.getByRole('combobox', { name: 'Find by' }).selectOption('EMAIL');
  await page.getByRole('textbox', { name: 'Exact value' }).fill('nobody@example.org');
  await button(page, 'Find').click();
  await page.getByText('No results').waitFor();
  await page.getByRole('textbox', { name: 'Exact value' }).fill('joan@example.org');
  await button(page, 'Find').click();
  await list.getByText('Customer 2').waitFor();
  await list.getByText('Customer 1').waitFor({ state: 'hidden' });
  await button(page, 'Show all').click();
  await list.getByText('Customer 1').click();
  await heading(page, 'Customer 1').waitFor();
  const dialog = await openDialog(page, 'Delete…', 'Delete “Customer 1”');
  await look('sub-organization-delete');
  await dialog.getByRole('textbox').fill('Customer 1');
  await button(dialog, 'Delete organization').click();
  await heading(page, 'Sub-organizations').waitFor();
  await list.getByText('Customer 2').waitFor();
  await list.getByText('Customer 1').waitFor({ state: 'hidden' });
}

async function manageWalletScreens(page: Page, look: Look, phrase: string): Promise<void> {
  await goTo(page, 'Wallets');
  await page.getByRole('link', { name: 'Import wallet' }).click();
  await heading(page, 'Import wallet').waitFor();
  await page.getByRole('textbox', { name: 'Name' }).fill('Brought along');
  await page.getByRole('textbox', { name: 'Seed phrase' }).fill('test test junk');
  await button(page, 'Import wallet').click();
  await page.getByText('A seed phrase has 12, 15, 18, 21 or 24 words; this has 3.').waitFor();
  await look('wallet-import-short');
  await page.getByRole('textbox', { name: 'Seed phrase' }).fill(knownWallet.phrase.replace('junk', 'test'));
  await button(page, 'Import wallet').click();
  await page.getByText('The words don’t match their checksum.').waitFor();
  await look('wallet-import-refused');
  const words = page.getByRole('textbox', { name: 'Seed phrase' });
  await words.fill('');
  await words.pressSequentially('test ab');
  await page.getByRole('option', { name: 'abandon' }).waitFor();
  await look('wallet-import-completed');
  await words.fill(knownWallet.phrase);
  await button(page, 'Show addresses').click();
  await page.getByRole('list', { name: 'First addresses' }).waitFor();
  await look('wallet-import-preview');
  await button(page, 'Import wallet').click();
  await heading(page, 'Brought along').waitFor();
  await look('wallet-imported');

  await page.getByRole('link', { name: 'Details of Ethereum address' }).click();
  await heading(page, 'Ethereum account').waitFor();
  await look('account');
  const account = await openDialog(page, 'Export…', 'Export account key');
  await look('account-export');
  await exportFrom(account, 'Export private key', phrase);
  await button(account, 'Show the private key').waitFor();
  await look('account-exported');
  await hold(button(account, 'Show the private key'));
  await look('account-exported-shown');
  await leaveDialog(account, 'Done');
  const deleting = await openDialog(page, 'Delete…', 'Delete account');
  await look('account-delete');
  await leaveDialog(deleting, 'Cancel');

  await page.getByRole('link', { name: 'Brought along' }).click();
  await heading(page, 'Brought along').waitFor();
  const renaming = await openDialog(page, 'Rename…', 'Rename wallet');
  await renaming.getByRole('textbox', { name: 'Name' }).fill('');
  await renaming.getByText('Enter a name.').waitFor();
  await look('wallet-rename');
  await leaveDialog(renaming, 'Cancel');
  const loss = await openDialog(page, 'Delete…', 'Delete “Brought along”');
  await loss.getByText('Make sure there is another copy').waitFor();
  await button(loss, 'Delete wallet').click();
  await loss.getByText('The name doesn’t match').waitFor();
  await look('wallet-delete-refused');
  await leaveDialog(loss, 'Cancel');
  const wallet = await openDialog(page, 'Export…', 'Export wallet');
  await look('wallet-export');
  await exportFrom(wallet, 'Export seed phrase', phrase);
  await button(wallet, 'Show my words').waitFor();
  await look('wallet-exported');
  await hold(button(wallet, 'Show my words'));
  await look('wallet-exported-shown');
  await leaveDialog(wallet, 'Done');
  const kept = await openDialog(page, 'Delete…', 'Delete “Brought along”');
  await look('wallet-delete');
  await leaveDialog(kept, 'Cancel');
}

async function managePrivateKeyScreens(page: Page, look: Look, phrase: string): Promise<void> {
  await goTo(page, 'Private keys');
  await page.getByRole('link', { name: 'Import private key' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('From another program');
  await page.getByRole('textbox', { name: 'Private key' }).fill(knownWallet.ethereumKey.slice(2));
  await page.getByRole('checkbox', { name: 'Ethereum' }).check();
  await button(page, 'Import private key').click();
  await page.getByText('A private key has 64 hex digits; this has 62.').waitFor();
  await look('private-key-import');
  await page.getByRole('textbox', { name: 'Private key' }).fill(knownWallet.ethereumKey);
  await button(page, 'Import private key').click();
  await heading(page, 'From another program').waitFor();
  for (const tag of ['releases', 'a tag whose name is nearly as long as the longest one may be']) {
    await page.getByRole('combobox', { name: 'Add tag' }).fill(tag);
    await button(page, 'Create and add').click();
    await button(page, `Remove tag ${tag}`).waitFor();
  }
  await look('private-key-imported');
  const exporting = await openDialog(page, 'Export…', 'Export private key');
  await exportFrom(exporting, 'Export private key', phrase);
  await hold(button(exporting, 'Show the private key'));
  await look('private-key-exported');
  await leaveDialog(exporting, 'Done');
  const deleting = await openDialog(page, 'Delete…', 'Delete “From another program”');
  await look('private-key-delete');
  await leaveDialog(deleting, 'Cancel');
  await goTo(page, 'Private keys');
  await page.getByText('tagged releases').waitFor();
  await look('private-keys-tagged');
}

async function userScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Users');
  await page.getByText('Only you so far.').waitFor();
  await look('users-alone');
  await page.getByRole('link', { name: 'Create user' }).click();
  await heading(page, 'Create user').waitFor();
  await page.getByRole('textbox', { name: 'Email' }).fill('nowhere');
  await page.getByRole('textbox', { name: 'Phone number' }).fill('020 7946 0018');
  await button(page, 'Create user').click();
  await page.getByText('Enter a name.').waitFor();
  await look('user-new-refused');
  await page.getByRole('textbox', { name: 'Name' }).fill('Payroll');
  await page.getByRole('textbox', { name: 'Email' }).fill('payroll@example.org');
  await page.getByRole('textbox', { name: 'Phone number' }).fill('+44 20 7946 0018');
  await button(page, 'Create user').click();
  await heading(page, 'Payroll').waitFor();
  await look('user-without-keys');

  await page.getByRole('link', { name: 'Add API key' }).click();
  await heading(page, 'Add API key').waitFor();
  await look('user-new-key');
  await chooseSegment(page, 'Key pair', 'Use my public key');
  await page.getByRole('textbox', { name: 'Public key' }).fill('02abc');
  await choose(page, 'Expires', 'After a week');
  await button(page, 'Register key').click();
  await page.getByText('has 66 hex digits; this has 5 characters').waitFor();
  await look('user-new-public-key');
  await chooseSegment(page, 'Key pair', 'Generate here');
  await button(page, 'Create key').click();
  await page.getByRole('heading', { name: '“Script 1” is ready' }).waitFor();
  await look('user-key-made');
  await button(page, 'I saved the key').click();
  await heading(page, 'Payroll').waitFor();
  await page.getByRole('combobox', { name: 'Add tag' }).fill('programs');
  await button(page, 'Create and add').click();
  await button(page, 'Remove tag programs').waitFor();
  await look('user');
  const key = await openDialog(page, 'Delete key Script 1', 'Delete “Script 1”');
  await look('user-key-delete');
  await leaveDialog(key, 'Cancel');
  const user = await openDialog(page, 'Delete…', 'Delete “Payroll”');
  await look('user-delete');
  await leaveDialog(user, 'Cancel');
  await goTo(page, 'Users');
  await page.getByText('tagged programs').waitFor();
  await look('users');
  await page.getByRole('link', { name: /You/ }).click();
  await page.getByText('The owner of the vault can’t be deleted').waitFor();
  await look('user-owner');
}

async function tagScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Tags');
  await page.getByRole('textbox', { name: 'Name' }).fill('releases');
  await page.getByText('This name is taken.').waitFor();
  await look('tags');
  const renaming = await openDialog(page, 'Rename tag releases', 'Rename tag');
  await look('tag-rename');
  await leaveDialog(renaming, 'Cancel');
  const deleting = await openDialog(page, 'Delete tag releases', 'Delete “releases”');
  await look('tag-delete');
  await leaveDialog(deleting, 'Cancel');
}

async function organizationScreens(page: Page, look: Look): Promise<void> {
  await goTo(page, 'Organization');
  await page.getByText('alone has full access.').waitFor();
  await page.getByText('No features.').waitFor();
  await look('organization');
  await page.getByRole('textbox', { name: 'Name' }).fill('');
  await page.getByText('Enter a name.').waitFor();
  await button(page, 'Set feature').click();
  await page.getByText('Enter a value.').waitFor();
  await look('organization-refused');
  await page.getByRole('combobox', { name: 'Feature' }).selectOption({ label: 'Sign-in by email' });
  await button(page, 'Set feature').click();
  await page.getByRole('list', { name: 'Features' }).getByText('Sign-in by email').waitFor();
  await look('organization-feature');
}

async function unknownAddresses(page: Page, look: Look): Promise<void> {
  await page.goto('/#/wallets/00000000-0000-4000-8000-000000000000');
  await page.getByRole('alert').filter({ hasText: 'Couldn’t load the wallet' }).waitFor();
  await look('wallet-unknown');
  await page.goto('/#/nowhere');
  await heading(page, 'Page not found').waitFor();
  await look('not-found');
}

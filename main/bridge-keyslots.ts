/** The window's calls about keyslots and the recovery phrase: what is asked, checked and turned into a change. */
import { z } from 'zod';
import type { Keyslots, ProveWith, Sheet, SheetRequest, UnlockWith } from '../preload/contract.ts';
import { parseSecret } from './activities/parse.ts';
import { listKeyslots } from './db/keyslots.ts';
import { getOrganization } from './db/organizations.ts';
import { requireVault } from './db/vault.ts';
import { KeyslotManager, type KeyslotParts, type NewPhrase, type Proof } from './keyslots/manage.ts';
import { OwnerProof } from './keyslots/owner-proof.ts';
import { mostShares, phraseFromShares, sharesFromPhrase } from './keyslots/shares.ts';
import type { OpenWith } from './keyslots/slots.ts';
import { assertNever, LatchkeyError } from './lib/errors.ts';

const text = z.string().min(1).max(1000);
/** Its length in characters is the password slot's to check. */
export const passwordText = z.string().min(1).max(5000);
export const confirmedWordsList = z
  .array(z.object({ position: z.int().min(1).max(24), word: text }))
  .min(3)
  .max(24);

const withPassword = z.object({ with: z.literal('password'), password: passwordText });
const withPhrase = z.object({ with: z.literal('recovery'), phrase: text });
const withShares = z.object({ with: z.literal('shares'), shares: z.array(text).min(1).max(mostShares) });
const unlockParams = z.discriminatedUnion('with', [
  z.object({ with: z.literal('keychain') }),
  withPassword,
  withPhrase,
  withShares,
]);
const proofParams = z.discriminatedUnion('with', [withPassword, withPhrase, withShares]);
const recoveryParams = z.discriminatedUnion('with', [withPhrase, withShares]);

const proof = proofParams;
const keyslotId = text;
const changeParams = z.discriminatedUnion('do', [
  z.object({ do: z.literal('addPassword'), proof, password: passwordText }),
  z.object({ do: z.literal('addKeychain'), proof }),
  z.object({ do: z.literal('addRecovery'), proof, confirmedWords: confirmedWordsList.optional() }),
  z.object({ do: z.literal('changePassword'), proof, keyslotId, password: passwordText }),
  z.object({
    do: z.literal('changeRecovery'),
    proof,
    keyslotId,
    confirmedWords: confirmedWordsList.optional(),
  }),
  z.object({ do: z.literal('remove'), proof, keyslotId }),
  z.object({
    do: z.literal('rotate'),
    proof,
    secrets: z.array(proofParams).max(20),
    dropOthers: z.boolean(),
  }),
]);
const sheetParams = z.object({
  phrase: text,
  shares: z.object({ threshold: z.int(), count: z.int() }).optional(),
});

/** Keeps the phrase that was drawn last, until it opens the vault. */
export interface DrawnPhrase {
  phrase: string | undefined;
}

export class KeyslotCalls {
  readonly #parts: KeyslotParts;
  readonly #manager: KeyslotManager;
  readonly #drawn: DrawnPhrase;
  readonly #proof: OwnerProof;

  constructor(parts: KeyslotParts, drawn: DrawnPhrase) {
    this.#parts = parts;
    this.#proof = new OwnerProof(parts.clock);
    parts.keyring.onChange(() => {
      this.#proof.end();
    });
    this.#manager = new KeyslotManager(parts);
    this.#drawn = drawn;
  }

  async unlock(input: unknown): Promise<void> {
    const how: UnlockWith = parseSecret(unlockParams, input, 'unlock');
    await this.#manager.unlock(this.#toOpenWith(how));
    // The keychain opens for whoever sits there.
    if (how.with !== 'keychain') this.#proof.open();
  }

  /** With what opened a backup just now. */
  async unlockWith(how: Proof): Promise<void> {
    await this.#manager.unlock(how);
    this.#proof.open();
  }

  /** The vault was made just now, by somebody who knows what opens it. */
  made(): void {
    this.#proof.open();
  }

  async prove(input: unknown): Promise<{ readonly until: number }> {
    const how = parseSecret(proofParams, input, 'proof');
    this.#parts.keyring.checkUnlocked();
    await this.#manager.checkProof(await this.#toProof(how));
    return { until: this.#proof.give() };
  }

  /**
   * Runs what is guarded if the owner has shown just now to be there; an export that succeeds uses the proof up.
   * @throws LatchkeyError PERMISSION_DENIED
   */
  async proven<Answer extends { readonly status: number }>(
    use: Parameters<OwnerProof['check']>[0],
    run: () => Promise<Answer>,
  ): Promise<Answer> {
    this.#proof.check(use);
    const answer = await run();
    if (answer.status === 200) this.#proof.used(use);
    return answer;
  }

  keyslots(): Promise<Keyslots> {
    return Promise.resolve(
      this.#parts.units.read((tx) => ({
        vaultId: requireVault(tx).id,
        keyslots: listKeyslots(tx).map(({ id, kind, createdAt, confirmedAt }) => ({
          id,
          kind,
          createdAt,
          confirmedAt,
        })),
      })),
    );
  }

  async changeKeyslots(input: unknown): Promise<Keyslots> {
    const change = parseSecret(changeParams, input, 'change');
    this.#parts.keyring.checkUnlocked();
    await this.#change(change);
    return this.keyslots();
  }

  async checkRecovery(input: unknown): Promise<Keyslots> {
    const how = await this.#toProof(parseSecret(recoveryParams, input, 'recovery'));
    if (how.with === 'recovery') await this.#manager.checkPhrase(how.phrase);
    return this.keyslots();
  }

  async recoverySheet(input: unknown): Promise<readonly Sheet[]> {
    const { phrase, shares }: SheetRequest = withoutUndefined(parseSecret(sheetParams, input, 'sheet'));
    const { units, random, clock } = this.#parts;
    await this.#manager.checkPhrase(phrase);
    const { vault, organization } = units.read((tx) => {
      const row = requireVault(tx);
      return { vault: row, organization: getOrganization(tx, row.organizationId) };
    });
    const about = { organization: organization?.name ?? '', vaultId: vault.id, now: clock.now() };
    if (shares === undefined) return [phraseSheet(phrase.toLowerCase().trim().split(/\s+/), about)];
    const texts = await sharesFromPhrase(phrase, vault.id, shares, random);
    return texts.map((share, index) => shareSheet(share, index + 1, shares, about));
  }

  #change(change: z.output<typeof changeParams>): Promise<void> {
    const run = async (work: (proof: Proof) => Promise<void>): Promise<void> =>
      work(await this.#toProof(change.proof));
    const manager = this.#manager;
    switch (change.do) {
      case 'addPassword':
        return run((given) => manager.addPassword(given, change.password));
      case 'addKeychain':
        return run((given) => manager.addKeychain(given));
      case 'addRecovery':
        return run((given) => this.#withDrawn(change, (phrase) => manager.addRecovery(given, phrase)));
      case 'changePassword':
        return run((given) => manager.changePassword(given, change.keyslotId, change.password));
      case 'changeRecovery':
        return run((given) =>
          this.#withDrawn(change, (phrase) => manager.changeRecovery(given, change.keyslotId, phrase)),
        );
      case 'remove':
        return run((given) => manager.remove(given, change.keyslotId));
      case 'rotate':
        return run(async (given) => {
          const others = await Promise.all(change.secrets.map((secret) => this.#toProof(secret)));
          await manager.rotate([given, ...others], change.dropOthers);
        });
      default:
        return assertNever(change);
    }
  }

  /** Uses the phrase that was drawn last, once. */
  async #withDrawn(
    { confirmedWords }: { readonly confirmedWords?: z.output<typeof confirmedWordsList> | undefined },
    use: (phrase: NewPhrase) => Promise<void>,
  ): Promise<void> {
    const { phrase } = this.#drawn;
    if (phrase === undefined) {
      throw new LatchkeyError(
        'INVALID_ARGUMENT',
        'no recovery phrase was drawn: ask for one, write it down, then add it',
      );
    }
    if (confirmedWords !== undefined) checkWords(phrase.split(' '), confirmedWords, 'change');
    await use({ phrase, confirmed: confirmedWords !== undefined });
    this.#drawn.phrase = undefined;
  }

  async #toOpenWith(how: UnlockWith): Promise<OpenWith> {
    return how.with === 'keychain'
      ? { with: 'keychain', keychain: this.#parts.keychain }
      : this.#toProof(how);
  }

  async #toProof(how: ProveWith): Promise<Proof> {
    if (how.with !== 'shares') return how;
    const { id } = this.#parts.units.read(requireVault);
    return { with: 'recovery', phrase: await phraseFromShares(how.shares, id) };
  }
}

/** @param at What the words are a field of. @throws LatchkeyError naming the position that is wrong, never a word. */
export function checkWords(
  phrase: readonly string[],
  confirmed: readonly { readonly position: number; readonly word: string }[],
  at: string,
): void {
  if (new Set(confirmed.map(({ position }) => position)).size < 3) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `invalid ${at}.confirmedWords: expected three different positions at least`,
    );
  }
  const wrong = confirmed.find(({ position, word }) => phrase[position - 1] !== word.trim().toLowerCase());
  if (wrong !== undefined) {
    throw new LatchkeyError(
      'INVALID_ARGUMENT',
      `word ${String(wrong.position)} is not the one of the recovery phrase`,
    );
  }
}

interface SheetFacts {
  readonly organization: string;
  readonly vaultId: string;
  readonly now: number;
}

const factsOf = ({ organization, vaultId, now }: SheetFacts): Sheet['facts'] => [
  ['Organization', organization],
  ['Vault', vaultId],
  ['Made on', new Date(now).toISOString().slice(0, 10)],
];

const keepSafe = 'Keep this page offline and out of sight, away from the computer.';

function phraseSheet(words: readonly string[], facts: SheetFacts): Sheet {
  return {
    title: 'Recovery phrase',
    secret: { kind: 'phrase', words },
    code: words.join(' '),
    facts: factsOf(facts),
    how: [
      `${keepSafe} Whoever has these words and a copy of the vault has its keys.`,
      'To open the vault: choose “Recovery phrase” where Latchkey asks what to unlock with, and type the 24 words in their order; or run `latchkey unlock --recovery-file FILE`.',
      'On a new computer: install Latchkey, restore a backup of this vault (`latchkey restore --help` says how), and give these words for it. The words alone hold no keys: they open a copy of the vault.',
    ],
  };
}

function shareSheet(
  share: string,
  number: number,
  { threshold, count }: { readonly threshold: number; readonly count: number },
  facts: SheetFacts,
): Sheet {
  return {
    title: `Recovery share ${String(number)} of ${String(count)}`,
    secret: { kind: 'share', text: share, number },
    code: share.toUpperCase(),
    facts: [...factsOf(facts), ['Shares needed', `any ${String(threshold)} of ${String(count)}`]],
    how: [
      `${keepSafe} Give each share to another person, or put it in another place. Any ${String(threshold)} of the ${String(count)} open the vault; fewer say nothing about the recovery phrase.`,
      `To open the vault: choose “Recovery phrase” where Latchkey asks what to unlock with, and type ${String(threshold)} of them, without spaces, a line each; or run \`latchkey unlock\` with a --share-file FILE for each.`,
      'On a new computer: install Latchkey, restore a backup of this vault (`latchkey restore --help` says how), and give the shares for it. The shares alone hold no keys: they open a copy of the vault.',
    ],
  };
}

const withoutUndefined = ({ phrase, shares }: z.output<typeof sheetParams>): SheetRequest =>
  shares === undefined ? { phrase } : { phrase, shares };

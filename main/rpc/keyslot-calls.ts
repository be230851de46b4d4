/** The window's calls about keyslots and the recovery phrase: what is asked, checked and turned into a change. */
import { z } from 'zod';
import type { Keyslots, Sheet } from '../../preload/contract.ts';
import { parseSecret } from '../lib/parse.ts';
import { entropyFromMnemonic, hasWordAt, mnemonicFromEntropy } from '../crypto/keys/mnemonics.ts';
import { copyOfBytes, countCharacters, type SecretText } from '../crypto/secret-text.ts';
import { listKeyslots } from '../storage/tables/keyslots.ts';
import { getOrganization } from '../storage/tables/organizations.ts';
import { requireVault } from '../storage/tables/vault.ts';
import {
  KeyslotManager,
  type KeyslotParts,
  type NewPhrase,
  type OwnerSecret,
} from '../keys/change-keyslots.ts';
import type { SecurityTimeline } from '../audit/security-timeline.ts';
import type { SecurityEventKind, SecurityWay } from '../lib/text/security-events.ts';
import { StepUp } from '../keys/step-up.ts';
import { mostShares, phraseFromShares, sharesFromPhrase } from '../keys/keyslots/shares.ts';
import { eraseOpening } from '../keys/keyslots/slots.ts';
import { assertNever, KeyhearthError } from '../lib/errors.ts';

const text = z.string().min(1).max(1000);

/** A secret: bytes of UTF-8 as they come over HTTP, which the caller erases after the call, or a string of a window's process. */
function secretText(most: number): z.ZodType<SecretText> {
  const checked = z.string().min(1).max(most);
  return z.custom<SecretText>().superRefine((value: unknown, context) => {
    // A text of the same length is checked in the place of bytes.
    const length = value instanceof Uint8Array ? Math.min(countCharacters(value), most + 1) : undefined;
    const { error } = checked.safeParse(length === undefined ? value : 'x'.repeat(length));
    for (const issue of error?.issues ?? []) context.addIssue({ ...issue });
  });
}

/** Its length in characters is the password slot's to check. */
export const passwordText = secretText(5000);
const phraseText = secretText(1000);
export const confirmedWordsList = z
  .array(z.object({ position: z.int().min(1).max(24), word: phraseText }))
  .min(3)
  .max(24);

const withPassword = z.object({ with: z.literal('password'), password: passwordText });
const withPhrase = z.object({ with: z.literal('recovery'), phrase: phraseText });
const withShares = z.object({
  with: z.literal('shares'),
  shares: z.array(phraseText).min(1).max(mostShares),
});
const unlockParams = z.discriminatedUnion('with', [
  z.object({ with: z.literal('keychain') }),
  withPassword,
  withPhrase,
  withShares,
]);
/** A secret that shows that the caller owns the vault. */
export const secretParams = z.discriminatedUnion('with', [withPassword, withPhrase, withShares]);
/** Secrets that open a backup for an existing vault. */
export const backupSecret = z.discriminatedUnion('with', [withPassword, withPhrase]);
const recoveryParams = z.discriminatedUnion('with', [withPhrase, withShares]);

const proof = secretParams;
const keyslotId = text;
const wordsOfPhrase = {
  confirmedWords: confirmedWordsList.optional(),
  keptWords: confirmedWordsList.optional(),
};
type GivenWords = z.output<z.ZodObject<typeof wordsOfPhrase>>;
const changeParams = z.discriminatedUnion('do', [
  z.object({ do: z.literal('addPassword'), proof, password: passwordText }),
  z.object({ do: z.literal('addKeychain'), proof }),
  z.object({ do: z.literal('addRecovery'), proof, ...wordsOfPhrase }),
  z.object({ do: z.literal('changePassword'), proof, keyslotId, password: passwordText }),
  z.object({
    do: z.literal('changeRecovery'),
    proof,
    keyslotId,
    ...wordsOfPhrase,
  }),
  z.object({ do: z.literal('remove'), proof, keyslotId }),
  z.object({
    do: z.literal('rotate'),
    proof,
    secrets: z.array(secretParams).max(20),
    dropOthers: z.boolean(),
  }),
]);
const sheetParams = z.object({
  phrase: phraseText,
  shares: z.object({ threshold: z.int(), count: z.int() }).optional(),
});

/** Keeps the phrase that was generated last, until it opens the vault. */
export class NewRecoveryPhrase {
  #phrase: Uint8Array | undefined;

  /** Its bytes, which stay this object's. */
  get phrase(): Uint8Array | undefined {
    return this.#phrase;
  }

  /** Takes over the bytes of a phrase in the place of the last. */
  keep(phrase: Uint8Array): void {
    this.forget();
    this.#phrase = phrase;
  }

  forget(): void {
    this.#phrase?.fill(0);
    this.#phrase = undefined;
  }

  /** Hands the phrase over to who makes a vault with it. */
  take(): Uint8Array | undefined {
    const taken = this.#phrase;
    this.#phrase = undefined;
    return taken;
  }
}

/** A secret as it is asked for, where bytes may stand for texts. */
type Given =
  | { readonly with: 'password'; readonly password: SecretText }
  | { readonly with: 'recovery'; readonly phrase: SecretText }
  | { readonly with: 'shares'; readonly shares: readonly SecretText[] };

/**
 * Lends what a person offers, in the one form that slots are opened with; shares are put together for that long. It is
 * promised at once: who unlocks looks at the vault's state before anything is awaited.
 */
export async function withSecret<T>(
  given: Given,
  vaultId: string | undefined,
  use: (proof: Promise<OwnerSecret>) => Promise<T>,
): Promise<T> {
  if (given.with !== 'shares') return use(Promise.resolve(given));
  const proof = phraseFromShares(given.shares, vaultId).then((phrase): OwnerSecret => ({
    with: 'recovery',
    phrase,
  }));
  try {
    return await use(proof);
  } finally {
    proof.then(eraseOpening, () => undefined);
  }
}

export class KeyslotCalls {
  readonly #parts: KeyslotParts;
  readonly #manager: KeyslotManager;
  readonly #generated: NewRecoveryPhrase;
  readonly #timeline: SecurityTimeline;
  readonly #proof: StepUp;

  constructor(parts: KeyslotParts, generated: NewRecoveryPhrase, timeline: SecurityTimeline) {
    this.#parts = parts;
    this.#timeline = timeline;
    this.#proof = new StepUp(parts.clock);
    parts.keyring.onChange(() => {
      this.#proof.end();
    });
    this.#manager = new KeyslotManager(parts);
    this.#generated = generated;
  }

  async unlock(input: unknown): Promise<void> {
    const how = parseSecret(unlockParams, input, 'unlock');
    if (how.with === 'keychain') {
      // The keychain opens for any person at the computer.
      await this.#timeline.refusing('keychain', () =>
        this.#manager.unlock({ with: 'keychain', keychain: this.#parts.keychain }),
      );
      this.#timeline.note('unlocked', 'keychain');
      return;
    }
    await this.#lend(how, (proof) => this.#manager.unlock(proof));
    this.#timeline.note('unlocked', how.with);
    this.#proof.open();
  }

  /** With what opened a backup just now. */
  async unlockWith(how: OwnerSecret): Promise<void> {
    await this.#manager.unlock(how);
    this.#proof.open();
  }

  /** The vault was created just now, by a person who knows what opens it. */
  made(): void {
    this.#proof.open();
  }

  async prove(input: unknown): Promise<{ readonly until: number }> {
    const how = parseSecret(secretParams, input, 'proof');
    this.#parts.keyring.checkUnlocked();
    await this.#lend(how, async (proof) => this.#manager.checkSecret(await proof));
    return { until: this.#proof.give() };
  }

  /**
   * Runs a call that needs step-up, if the owner has just stepped up; an export that succeeds uses the step-up up.
   * @param request As for `StepUp.reserve`.
   * @throws KeyhearthError PERMISSION_DENIED
   */
  async proven<Answer extends { readonly status: number }>(
    use: Parameters<StepUp['check']>[0],
    request: string,
    run: () => Promise<Answer>,
  ): Promise<Answer> {
    const giveBack = this.#proof.take(use, request);
    let succeeded = false;
    try {
      const answer = await run();
      succeeded = answer.status === 200;
      return answer;
    } finally {
      if (!succeeded) giveBack();
    }
  }

  /** @throws KeyhearthError PERMISSION_DENIED where the owner has not just stepped up. */
  reserve(...reservation: Parameters<StepUp['reserve']>): void {
    this.#proof.reserve(...reservation);
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
    this.#timeline.note(...eventOf(change));
    return this.keyslots();
  }

  async checkRecovery(input: unknown): Promise<Keyslots> {
    await this.#lend(parseSecret(recoveryParams, input, 'recovery'), async (proof) => {
      const how = await proof;
      if (how.with === 'recovery') await this.#manager.checkPhrase(how.phrase);
    });
    this.#timeline.note('recoveryChecked');
    return this.keyslots();
  }

  async recoverySheet(input: unknown): Promise<readonly Sheet[]> {
    const { phrase, shares } = parseSecret(sheetParams, input, 'sheet');
    const { units, random, clock } = this.#parts;
    await this.#timeline.refusing('recovery', () => this.#manager.checkPhrase(phrase));
    const { vault, organization } = units.read((tx) => {
      const row = requireVault(tx);
      return { vault: row, organization: getOrganization(tx, row.organizationId) };
    });
    const about = { organization: organization?.name ?? '', vaultId: vault.id, now: clock.now() };
    if (shares === undefined) return [phraseSheet(wordsOf(phrase), about)];
    const texts = await sharesFromPhrase(phrase, vault.id, shares, random);
    return texts.map((share, index) => shareSheet(share, index + 1, shares, about));
  }

  #change(change: z.output<typeof changeParams>): Promise<void> {
    const run = (work: (proof: OwnerSecret) => Promise<void>): Promise<void> =>
      this.#lend(change.proof, async (proof) => work(await proof));
    const manager = this.#manager;
    switch (change.do) {
      case 'addPassword':
        return run((given) => manager.addPassword(given, change.password));
      case 'addKeychain':
        return run((given) => manager.addKeychain(given));
      case 'addRecovery':
        return run((given) => this.#withGenerated(change, (phrase) => manager.addRecovery(given, phrase)));
      case 'changePassword':
        return run((given) => manager.changePassword(given, change.keyslotId, change.password));
      case 'changeRecovery':
        return run((given) =>
          this.#withGenerated(change, (phrase) => manager.changeRecovery(given, change.keyslotId, phrase)),
        );
      case 'remove':
        return run((given) => manager.remove(given, change.keyslotId));
      case 'rotate':
        return run((given) =>
          this.#lendAll(change.secrets, (others) => manager.rotate([given, ...others], change.dropOthers)),
        );
      default:
        return assertNever(change);
    }
  }

  /** Uses the phrase that was generated last, once, for a caller who has words of it. */
  async #withGenerated(
    { confirmedWords, keptWords }: GivenWords,
    use: (phrase: NewPhrase) => Promise<void>,
  ): Promise<void> {
    const generated = this.#generated.phrase;
    if (generated === undefined) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'no recovery phrase was generated: request one, write it down, then add it',
      );
    }
    const words = confirmedWords ?? keptWords;
    if (words === undefined) {
      throw new KeyhearthError(
        'INVALID_ARGUMENT',
        'missing field change.confirmedWords: expected words of the phrase that was requested',
      );
    }
    checkWords(generated, words, 'change');
    // A lock erases the generated phrase, and must find the change as it was requested.
    const phrase = copyOfBytes(generated);
    try {
      await use({ phrase, confirmed: confirmedWords !== undefined });
    } finally {
      phrase.fill(0);
    }
    this.#generated.forget();
  }

  #lend<T>(given: Given, use: (proof: Promise<OwnerSecret>) => Promise<T>): Promise<T> {
    const id = given.with === 'shares' ? this.#parts.units.read(requireVault).id : undefined;
    return this.#timeline.refusing(given.with, () => withSecret(given, id, use));
  }

  #lendAll(given: readonly Given[], use: (proofs: readonly OwnerSecret[]) => Promise<void>): Promise<void> {
    const [first, ...rest] = given;
    if (first === undefined) return use([]);
    return this.#lend(first, async (proof) => {
      const lent = await proof;
      return this.#lendAll(rest, (others) => use([lent, ...others]));
    });
  }
}

function eventOf(change: z.output<typeof changeParams>): [SecurityEventKind, SecurityWay?] {
  switch (change.do) {
    case 'addPassword':
      return ['unlockMethodAdded', 'password'];
    case 'addKeychain':
      return ['unlockMethodAdded', 'keychain'];
    case 'addRecovery':
      return ['unlockMethodAdded', 'recovery'];
    case 'changePassword':
      return ['unlockMethodChanged', 'password'];
    case 'changeRecovery':
      return ['unlockMethodChanged', 'recovery'];
    case 'remove':
      return ['unlockMethodRemoved'];
    case 'rotate':
      return ['masterKeyReplaced'];
    default:
      return assertNever(change);
  }
}

/** The words of a phrase as they are printed. */
function wordsOf(phrase: SecretText): readonly string[] {
  const entropy = entropyFromMnemonic(phrase, 'recovery phrase');
  try {
    return mnemonicFromEntropy(entropy).split(' ');
  } finally {
    entropy.fill(0);
  }
}

/**
 * @param phrase Its words, in bytes, with a space between them.
 * @param at What the words are a field of.
 * @throws KeyhearthError naming the position that is wrong, never a word.
 */
export function checkWords(
  phrase: Uint8Array,
  confirmed: readonly { readonly position: number; readonly word: SecretText }[],
  at: string,
): void {
  if (new Set(confirmed.map(({ position }) => position)).size < 3) {
    throw new KeyhearthError(
      'INVALID_ARGUMENT',
      `invalid ${at}.confirmedWords: expected three different positions at least`,
    );
  }
  const wrong = confirmed.find(({ position, word }) => !hasWordAt(phrase, position, word));
  if (wrong !== undefined) {
    throw new KeyhearthError(
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
      'To open the vault: choose “Recovery phrase” where Keyhearth asks what to unlock with, and type the 24 words in their order; or run `keyhearth unlock --recovery-file FILE`.',
      'On a new computer: install Keyhearth, restore a backup of this vault (`keyhearth restore --help` says how), and give these words for it. The words alone hold no keys: they open a copy of the vault.',
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
      `To open the vault: choose “Recovery phrase” where Keyhearth asks what to unlock with, and type ${String(threshold)} of them, without spaces, a line each; or run \`keyhearth unlock\` with a --share-file FILE for each.`,
      'On a new computer: install Keyhearth, restore a backup of this vault (`keyhearth restore --help` says how), and give the shares for it. The shares alone hold no keys: they open a copy of the vault.',
    ],
  };
}

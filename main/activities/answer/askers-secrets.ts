/**
 * Secrets in results: tokens that every holder can use. The log keeps them sealed, for every user reads the log. They are
 * bound to the credential that asked, and are opened for it alone.
 */
import { encodeUtf8 } from '../../crypto/encodings.ts';
import type { Keys, SealContext } from '../../crypto/sealing.ts';
import { asUint8Array } from '../../crypto/bytes.ts';
import type { Caller } from '../../lib/caller.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { mapTexts } from '../../lib/text/marked-texts.ts';
import type { ActivityOperation } from '../define.ts';

type Result = Readonly<Record<string, unknown>>;

/** Begins a text that is sealed; base64url follows. */
const sealedPrefix = 'sealed:';

export const isSealedForAsker = (text: string): boolean => text.startsWith(sealedPrefix);

/** @returns the result as the log keeps it. */
export const sealForAsker = (
  keys: Keys,
  { returns }: Pick<ActivityOperation, 'returns'>,
  asker: Caller,
  result: Result,
): Result =>
  mapTexts(returns, 'password', result, (secret) => {
    const sealed = keys.seal(contextOf(asker), encodeUtf8('result', secret));
    return `${sealedPrefix}${Buffer.from(sealed).toString('base64url')}`;
  }) as Result;

/**
 * @param result As the log has it.
 * @returns the same with its secrets, for the credential that asked. They stay sealed for any other caller, for a request that
 * the log had already, and while the vault is locked. Those that were sealed under an earlier master key open no longer.
 */
export const openForAsker = (
  keys: Keys,
  { returns }: Pick<ActivityOperation, 'returns'>,
  caller: () => Caller,
  result: Result,
): Result =>
  mapTexts(returns, 'password', result, (text) => {
    if (!isSealedForAsker(text) || !keys.unlocked) return text;
    const sealed = asUint8Array(Buffer.from(text.slice(sealedPrefix.length), 'base64url'));
    const asker = caller();
    if (asker.isRepeat) return text;
    try {
      return Buffer.from(keys.open(contextOf(asker), sealed)).toString('utf8');
    } catch (error) {
      if (error instanceof KeyhearthError && error.code === 'INTERNAL') return text;
      throw error;
    }
  }) as Result;

/** The seal says for whom it is: a text that another program moves into another activity opens for none but them. */
const contextOf = ({ organizationId, userId, stamp }: Caller): SealContext => ({
  table: 'activities',
  rowId: JSON.stringify([userId, stamp.publicKey]),
  organizationId,
});

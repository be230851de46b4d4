/** Texts for the ways to open the vault: each by its kind, and by a number if there are several of one. */

import type { Keyslot, VaultStatus } from '../../../preload/contract.ts';
import { t } from '../../app/i18n/text.ts';
import { UnansweredError } from '../../app/rpc/rpc-error.ts';

/** Names that distinguish several of a kind, also for users who only hear the buttons. */
interface SlotTexts {
  readonly name: string;
  readonly remove: string;
  /** Of a password; and checks a phrase. */
  readonly change?: string;
}

/** Of the only one of its kind. */
export const textsOfOne: Readonly<Record<Keyslot['kind'], SlotTexts>> = {
  keychain: { name: t('Keychain'), remove: t('Remove keychain') },
  password: { name: t('Password'), remove: t('Remove password'), change: t('Change password') },
  recovery: {
    name: t('Recovery phrase'),
    remove: t('Remove recovery phrase'),
    change: t('Check recovery phrase'),
  },
};

/** Of one of several. */
const numbered: Readonly<Record<Keyslot['kind'], (number: number) => SlotTexts>> = {
  keychain: (number) => ({
    name: t('Keychain {{number}}', { number }),
    remove: t('Remove keychain {{number}}', { number }),
  }),
  password: (number) => ({
    name: t('Password {{number}}', { number }),
    remove: t('Remove password {{number}}', { number }),
    change: t('Change password {{number}}', { number }),
  }),
  recovery: (number) => ({
    name: t('Recovery phrase {{number}}', { number }),
    remove: t('Remove recovery phrase {{number}}', { number }),
    change: t('Check recovery phrase {{number}}', { number }),
  }),
};

export const textsOf = (slot: Keyslot, all: readonly Keyslot[]): SlotTexts => {
  const alike = all.filter(({ kind }) => kind === slot.kind);
  return alike.length > 1 ? numbered[slot.kind](alike.indexOf(slot) + 1) : textsOfOne[slot.kind];
};

/** Why the keychain is not available, in the window's words: the service names an option of the command. */
export const whyNoKeychain = (keychain: Extract<VaultStatus['keychain'], { available: false }>): string =>
  keychain.off === true ? t('turned off when Keyhearth was started') : keychain.reason;

/** The title of a check of a phrase that failed. A check without an answer says nothing about the phrase. */
export const checkFailed = (error: Error | null): string =>
  error instanceof UnansweredError ? t('Couldn’t check the phrase') : t('This phrase doesn’t open the vault');

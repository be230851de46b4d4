/** Issues for the vault's owner, the most pressing first. */

import { useNeeded } from '../approvals/waiting-approvals.ts';
import { useKeyslots } from '../keyslots/keyslot-queries.ts';
import { whyNoKeychain } from '../keyslots/keyslot-texts.ts';
import { numeral, t } from '../../app/i18n/text.ts';
import { useBackups, useStatus } from '../../app/rpc/vault.tsx';

export interface Attention {
  readonly id: string;
  readonly text: string;
  /** The screen for it, and the text of its link. */
  readonly to: string;
  readonly does: string;
}

/** Undefined until all queries have answered. The screen of a failed query shows the failure. */
export function useAttention(): readonly Attention[] | undefined {
  const { keychain, keyslots: kinds, directory, delayed } = useStatus();
  const needed = useNeeded();
  const backups = useBackups();
  const keyslots = useKeyslots();
  if (needed.isPending || backups.isPending || keyslots.isPending) return undefined;

  const found: Attention[] = [];
  const { activities = [], areMore = false } = needed.data ?? {};
  const [first] = activities;
  if (first !== undefined) {
    const count = activities.length;
    found.push({
      id: 'approvals',
      text: areMore
        ? t('More than {{most}} requests need your approval.', { most: numeral(count) })
        : t('{{count}} requests need your approval.', { count }),
      to: count === 1 ? `/approvals/${first.id}` : '/approvals',
      does: t('Review'),
    });
  }
  if (kinds.includes('keychain') && !keychain.available) {
    found.push({
      id: 'keychain',
      text: t('The keychain is not available: {{reason}}', { reason: whyNoKeychain(keychain) }),
      to: '/keyslots',
      does: t('Review'),
    });
  }
  // The shell shows waits for the network on every screen.
  if (delayed?.why === 'failing' && delayed.messages > 0) {
    found.push({
      id: 'messages',
      text: t('{{count}} messages could not be sent yet; Keyhearth keeps retrying.', {
        count: delayed.messages,
      }),
      to: '/messages',
      does: t('Details'),
    });
  }
  if (delayed?.why === 'failing' && delayed.endpoints > 0) {
    found.push({
      id: 'webhooks',
      text: t('{{count}} webhook endpoints are failing; Keyhearth retries for 24 hours.', {
        count: delayed.endpoints,
      }),
      to: '/webhooks',
      does: t('Details'),
    });
  }
  if (backups.data?.available === true) {
    for (const { kind, message } of backups.data.notices) {
      found.push({
        id: `backup ${kind}`,
        text: message,
        to: '/backups',
        does: kind === 'none' ? t('Back up') : t('Review'),
      });
    }
  }
  // A vault in memory is meant to be lost.
  if (directory !== null && keyslots.data !== undefined) {
    const phrases = keyslots.data.keyslots.filter(({ kind }) => kind === 'recovery');
    if (phrases.length === 0) {
      found.push({
        id: 'recovery',
        text: t(
          'This vault has no recovery phrase. If you lose the other unlock methods, you lose the vault.',
        ),
        to: '/keyslots',
        does: t('Add a recovery phrase'),
      });
    } else if (phrases.every(({ confirmedAt }) => confirmedAt === null)) {
      found.push({
        id: 'recovery',
        text: t('You haven’t checked what you wrote down of your recovery phrase.'),
        to: '/keyslots',
        does: t('Check'),
      });
    }
  }
  return found;
}

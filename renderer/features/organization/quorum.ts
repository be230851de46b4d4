import { allOf, anyOf, t } from '../../app/i18n/text.ts';

/**
 * Describes the users who decide everything.
 * @param names The names of the quorum's users.
 */
export function describeQuorum(threshold: number, names: readonly string[]): string {
  const [first = t('No one'), ...others] = names;
  if (others.length === 0) return t('{{first}} alone has full access.', { first });
  if (threshold <= 1) return t('Any one of {{names}} has full access.', { names: anyOf(names) });
  if (threshold < names.length) {
    return t('Any {{threshold}} of {{names}} have full access when they agree.', {
      threshold,
      names: allOf(names),
    });
  }
  return names.length === 2
    ? t('{{names}} have full access when both agree.', { names: allOf(names) })
    : t('{{names}} have full access when all agree.', { names: allOf(names) });
}

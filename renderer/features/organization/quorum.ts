import { allOf, anyOf, t } from '../../app/i18n/text.ts';

/**
 * Describes the users who decide everything.
 * @param names The names of the quorum's users.
 */
export function describeQuorum(threshold: number, names: readonly string[]): string {
  const [first = t('Nobody'), ...others] = names;
  if (others.length === 0) return t('{{first}} alone may do everything here.', { first });
  if (threshold <= 1) return t('Any one of {{names}} may do everything here.', { names: anyOf(names) });
  if (threshold < names.length) {
    return t('Any {{threshold}} of {{names}} may do everything here, when they agree.', {
      threshold,
      names: allOf(names),
    });
  }
  return names.length === 2
    ? t('{{names}} may do everything here, when both agree.', { names: allOf(names) })
    : t('{{names}} may do everything here, when all agree.', { names: allOf(names) });
}

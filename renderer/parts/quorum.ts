/**
 * Who decides everything, in words.
 * @param names The names of the quorum's users.
 */
export function describeQuorum(threshold: number, names: readonly string[]): string {
  const [first = 'Nobody', ...others] = names;
  if (others.length === 0) return `${first} alone may do everything here.`;
  if (threshold <= 1) return `Any one of ${listNames(names, 'or')} may do everything here.`;
  if (threshold < names.length) {
    return `Any ${String(threshold)} of ${listNames(names, 'and')} may do everything here, when they agree.`;
  }
  return `${listNames(names, 'and')} may do everything here, when ${names.length === 2 ? 'both' : 'all'} agree.`;
}

const listNames = (names: readonly string[], word: 'and' | 'or'): string =>
  `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1) ?? ''}`;

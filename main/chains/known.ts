/** Addresses of others as descriptions write them: the name from the address book stands beside the address. */
import type { Context } from './chain.ts';
import type { Writer } from './description.ts';

/** @param name Of the organization's own key at the address. */
export const ownWords = (
  name: string,
  address: string,
  context: Pick<Context, 'isImported'>,
  writer: Writer,
): string =>
  `your ${context.isImported?.(address) === true ? 'imported ' : ''}${writer.text(name)} (${address})`;

export function strangerWords(address: string, context: Pick<Context, 'known'>, writer: Writer): string {
  const name = context.known?.(address);
  return name === undefined ? address : `“${writer.text(name)}” (${address})`;
}

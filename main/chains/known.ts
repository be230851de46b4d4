/** Addresses of others as descriptions write them: the name from the address book stands beside the address. */
import type { Context, Holder } from './chain.ts';
import type { Writer } from './description.ts';

/** @param holder Has the address, which is the organization's own. */
export const ownWords = ({ name, isImported }: Holder, address: string, writer: Writer): string =>
  `your ${isImported ? 'imported ' : ''}${writer.text(name)} (${address})`;

export function strangerWords(address: string, context: Pick<Context, 'known'>, writer: Writer): string {
  const name = context.known?.(address);
  return name === undefined ? address : `“${writer.text(name)}” (${address})`;
}

/** Addresses of others as descriptions write them: the name from the address book stands beside the address. */
import type { Context } from './chain.ts';
import type { Writer } from './description.ts';

export function strangerWords(address: string, context: Pick<Context, 'known'>, writer: Writer): string {
  const name = context.known?.(address);
  return name === undefined ? address : `“${writer.text(name)}” (${address})`;
}

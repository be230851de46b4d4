/** An address in groups of four, with its name in the address book. The name never stands in its place. */
import type { ReactNode } from 'react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { Grouped } from '../../ui/identifier.tsx';
import { useApiQuery } from '../../app/rpc/vault.tsx';

/** Ethereum's addresses are the same in any case. */
export const sameAddress = (one: string, other: string): boolean =>
  one === other || (/^0x/i.test(one) && one.toLowerCase() === other.toLowerCase());

export function NamedAddress({ address }: { readonly address: string }): ReactNode {
  const known = useApiQuery('list_known_addresses').data?.knownAddresses;
  const name = known?.find((each) => sameAddress(each.address, address))?.name;
  return (
    <span>
      {name !== undefined && <span className="kh-policy-name">{visibleName(name)}</span>}{' '}
      <Grouped text={address} />
    </span>
  );
}

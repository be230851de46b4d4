/** An address in groups of four, with its name in the address book. The name never stands in its place. */
import type { ReactNode } from 'react';
import { sameAddress } from '../../../main/lib/text/look-alikes.ts';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { Grouped } from '../../ui/identifier.tsx';
import { useApiQuery } from '../../app/rpc/vault.tsx';

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

/**
 * The addresses of names on the Internet, asked of the name servers by this process itself. The system's lookup keeps one of two
 * threads until a name server answers. The owner of a name may have its server not answer, and so keep every other lookup waiting.
 */
import { Resolver, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Milliseconds for the first try of each name server, and how often each is asked. */
const patience = { timeout: 2000, tries: 2 };

/** @param servers Addresses of the name servers; the system's unless given. */
export const internetLookup =
  (servers?: readonly string[]): LookupFunction =>
  (hostname, { all = false }, callback) => {
    // A new one each time: the system's name servers change with the network.
    const resolver = new Resolver(patience);
    if (servers !== undefined) resolver.setServers(servers);
    const found: Partial<Record<4 | 6, readonly LookupAddress[]>> = {};
    let failure: NodeJS.ErrnoException | null = null;
    const answered =
      (family: 4 | 6) =>
      (error: NodeJS.ErrnoException | null, addresses: readonly string[] = []): void => {
        // Most names lack one of the two, so the reason why there is an error is that of the other.
        if (error !== null && (failure === null || failure.code === 'ENODATA')) failure = error;
        found[family] = addresses.map((address) => ({ address, family }));
        if (found[4] === undefined || found[6] === undefined) return;
        const [first, ...more] = [...found[4], ...found[6]];
        if (first === undefined) callback(failure, '');
        else if (all) callback(null, [first, ...more]);
        else callback(null, first.address, first.family);
      };
    resolver.resolve4(hostname, answered(4));
    resolver.resolve6(hostname, answered(6));
  };

/**
 * Finds the user at the other end of a loopback connection. Linux lists every TCP socket with its owner;
 * other systems give a process no such list.
 */
import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { endianness } from 'node:os';
import type { Socket } from 'node:net';

/** The addresses of a connection, as `node:net` writes them. */
export type Connection = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

const tables = ['/proc/net/tcp', '/proc/net/tcp6'];
/** Established, or ended by the far end alone (FIN_WAIT1 and FIN_WAIT2), which still reads. */
const reading: ReadonlySet<string> = new Set(['01', '04', '05']);
const root = 0;

/**
 * Answers if a connection comes from a process of another user. The administrator does not count, since root
 * can act as any user.
 * @returns false also if the system does not say.
 */
export async function isOtherUser(connection: Connection): Promise<boolean> {
  const me = process.geteuid?.();
  if (process.platform !== 'linux' || me === undefined) return false;
  for (const table of tables) {
    const user = ownerIn(await readFile(table, 'latin1').catch(() => ''), connection);
    if (user !== undefined) return user !== me && user !== root;
  }
  return false;
}

/** @returns the user id of the socket at the far end of a connection, by a table of `/proc/net`. */
export function ownerIn(
  table: string,
  { remoteAddress, remotePort, localAddress, localPort }: Connection,
): number | undefined {
  if (remoteAddress === undefined || localAddress === undefined) return undefined;
  // The far end's own socket: what is remote here is local there.
  const from = formsOf(remoteAddress, remotePort ?? 0);
  const to = formsOf(localAddress, localPort ?? 0);
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', state = '', , , , user] = line.trim().split(/\s+/);
    if (reading.has(state) && from.includes(local) && to.includes(remote)) return Number(user);
  }
  return undefined;
}

/** An address as the tables write it: words in the machine's own order, in hex. IPv4 may stand in IPv6's place. */
function formsOf(address: string, port: number): readonly string[] {
  const plain = address.replace(/^::ffff:/i, '');
  const bytes = isIPv4(plain) ? Buffer.from(plain.split('.').map(Number)) : bytesOfIPv6(plain);
  const words = endianness() === 'LE' ? Buffer.from(bytes).swap32() : bytes;
  const hex = words.toString('hex').toUpperCase();
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  if (bytes.length === 16) return [hex + end];
  const prefix = endianness() === 'LE' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF';
  return [hex + end, prefix + hex + end];
}

function bytesOfIPv6(address: string): Buffer {
  const [before = '', after = ''] = address.split('::');
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const [head, tail] = [groups(before), groups(after)];
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0');
  const all = address.includes('::') ? [...head, ...zeros, ...tail] : head;
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

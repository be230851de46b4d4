/** The names of servers in the user's `known_hosts`: a claim, since every program of the user can write that file. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes; a larger file is not searched. */
const largestFile = 1024 * 1024;

/** @param hostKey As SSH writes it. @returns no name for a server whose name is hashed in the file. */
export function hostsOf(hostKey: Uint8Array, homeDirectory: string): readonly string[] {
  const wanted = Buffer.from(hostKey).toString('base64');
  const names = readKnownHosts(join(homeDirectory, '.ssh', 'known_hosts')).flatMap((line) => {
    const [hosts = '', , key] = line.trim().split(/\s+/);
    return key === wanted && !/^[|@#]/.test(hosts) ? hosts.split(',') : [];
  });
  return [...new Set(names)].slice(0, 3);
}

/** @returns nothing where there is not a plain file: a pipe in its place would never end. */
function readKnownHosts(path: string): readonly string[] {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return [];
  }
  try {
    const found = fstatSync(descriptor);
    return found.isFile() && found.size <= largestFile ? readFileSync(descriptor, 'utf8').split('\n') : [];
  } finally {
    closeSync(descriptor);
  }
}

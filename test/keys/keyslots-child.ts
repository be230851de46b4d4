/**
 * A process that changes keyslots and the master key without end, to be killed at it. It says on standard output what it
 * is about to do and what is done, a line of JSON each; the last thing said is what it was at.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { makeConfig } from '../../main/app/config.ts';
import type { Keychain } from '../../main/keys/keychain/keychain.ts';
import { openVault } from '../../main/app/compose.ts';
import { cheapPassword } from './password-cost.ts';
import type { KeyslotChange, Keyslots, ProveWith } from '../../preload/contract.ts';

/** The first argument of the process. */
export interface Orders {
  readonly directory: string;
  readonly phrase: string;
  readonly password: string;
  /** Does this once, instead of all things at random. */
  readonly only?: 'addKeychain' | 'rotate' | 'remove';
  /** Ends itself, as a kill would, at this point of the keychain's work. */
  readonly dieAt?: DiePoint;
}

export type DiePoint = 'before set' | 'after set' | 'before delete' | 'after delete';

export type Said =
  | { readonly at: 'ready' }
  | { readonly at: 'try' | 'done'; readonly change: string; readonly password: string };

/** A keychain of files, which outlives a process as a real one does. */
export function fileKeychain(directory: string, at: (point: DiePoint) => void = () => undefined): Keychain {
  const keychainDirectory = join(directory, 'keychain');
  mkdirSync(keychainDirectory, { recursive: true });
  const file = (account: string): string => join(keychainDirectory, encodeURIComponent(account));
  return {
    get: (account) =>
      Promise.resolve(existsSync(file(account)) ? Uint8Array.from(readFileSync(file(account))) : undefined),
    set: (account, secret) => {
      at('before set');
      writeFileSync(file(account), secret);
      at('after set');
      return Promise.resolve();
    },
    delete: (account) => {
      at('before delete');
      rmSync(file(account), { force: true });
      at('after delete');
      return Promise.resolve();
    },
    probe: () => Promise.resolve({ available: true }),
  };
}

export const keychainEntries = (directory: string): string[] => readdirSync(join(directory, 'keychain'));

async function work({ directory, phrase, password: first, only, dieAt }: Orders): Promise<void> {
  const keychain = fileKeychain(directory, (point) => {
    if (point === dieAt) process.kill(process.pid, 'SIGKILL');
  });
  const { rpc } = openVault(makeConfig({ dataDir: join(directory, 'vault') }, {}), {
    keychain,
    passwordCost: cheapPassword,
  });
  const byPhrase: ProveWith = { with: 'recovery', phrase };
  await rpc.unlock(byPhrase);
  let password = first;
  // Node writes it at the end of a process, which this one hardly ever comes to.
  flushCompileCache();
  say({ at: 'ready' });
  for (let count = 0; ; count += 1) {
    const { keyslots }: Keyslots = await rpc.keyslots();
    const idOf = (kind: string): string => keyslots.find((slot) => slot.kind === kind)?.id ?? '';
    const hasKeychain = idOf('keychain') !== '';
    const next = `password ${String(process.pid)} ${String(count)}`;
    const changes: readonly KeyslotChange[] = [
      { do: 'rotate', proof: byPhrase, secrets: [{ with: 'password', password }], dropOthers: false },
      { do: 'changePassword', proof: byPhrase, keyslotId: idOf('password'), password: next },
      hasKeychain
        ? { do: 'remove', proof: byPhrase, keyslotId: idOf('keychain') }
        : { do: 'addKeychain', proof: byPhrase },
    ];
    const possible = changes.filter((each) => only === undefined || each.do === only);
    const change = possible[Math.floor(Math.random() * possible.length)];
    if (change === undefined) throw new Error(`${String(only)} cannot be done now`);
    const after = change.do === 'changePassword' ? next : password;
    say({ at: 'try', change: change.do, password: after });
    await rpc.changeKeyslots(change);
    password = after;
    say({ at: 'done', change: change.do, password });
    if (only !== undefined) return;
  }
}

function say(said: Said): void {
  writeSync(1, `${JSON.stringify(said)}\n`);
}

const [, script, orders] = process.argv;
if (script === import.meta.filename && orders !== undefined) await work(JSON.parse(orders) as Orders);

/** The operating system's keychain: what it must do for a keyslot, and the real one, through keytar. */
import { formerName } from '../../lib/text/former-name.ts';
import { copyOfBytes } from '../../crypto/secret-text.ts';
import { KeyhearthError, messageOf } from '../../lib/errors.ts';
import { secretServiceFault } from './session-bus.ts';
import type { BusFault } from './session-bus.ts';
import { SerialQueue } from '../../lib/concurrency/serial.ts';
import { upTo } from '../../lib/text/up-to.ts';

export type KeychainState =
  | { readonly available: true }
  | {
      readonly available: false;
      /** One line for a person: what is missing, and what to do. */
      readonly reason: string;
      /** Its use is switched off. */
      readonly off?: true;
      /** True for a failure that came before any prompt, so it may be asked again at any time. */
      readonly quiet?: true;
    };

/** Small secrets by account, all under one service. Every call but `probe` rejects with KeyhearthError INVALID_ARGUMENT. */
export interface Keychain {
  /** @returns the bytes, which the caller erases; undefined where there is no entry, and on Linux where it is locked. */
  get(account: string): Promise<Uint8Array | undefined>;
  set(account: string, secret: Uint8Array): Promise<void>;
  /** An entry that is not there is as good as deleted. */
  delete(account: string): Promise<void>;
  /** Stores, reads and deletes an entry of its own: what the keychain says of itself is not enough. */
  probe(): Promise<KeychainState>;
  /**
   * Asks whether it answers at all, of which no person hears.
   * @returns why it does not; undefined where it does. Left out where only a probe can tell.
   */
  isSilent?(): Promise<KeychainState | undefined>;
  /** Ends what waits for a service that is silent: it would keep the process from ending. */
  close?(): void;
}

/** The functions of keytar that are used. */
export interface PasswordStore {
  getPassword(service: string, account: string): Promise<string | null>;
  setPassword(service: string, account: string, password: string): Promise<void>;
  deletePassword(service: string, account: string): Promise<boolean>;
}

export interface SystemKeychainOptions {
  /** Linux: where the D-Bus session is, in the form of DBUS_SESSION_BUS_ADDRESS; undefined where there is none. */
  readonly sessionBus: string | undefined;
  readonly platform?: NodeJS.Platform;
  readonly load?: () => Promise<PasswordStore>;
  /** Milliseconds. A call may wait for a person who is asked for a password; a probe and a silent bus may not. */
  readonly limits?: { readonly call: number; readonly probe: number };
}

const service = 'keyhearth';
/** The service name of entries from before the product's current name. */
const formerService = formerName;

/** A keychain that is not there, for vaults that must not touch the real one. */
export function noKeychain(reason: string): Keychain {
  const refuse = (): Promise<never> => Promise.reject(new Unavailable({ text: reason }));
  return {
    get: refuse,
    set: refuse,
    delete: refuse,
    probe: () => Promise.resolve({ available: false, reason, off: true }),
  };
}

/**
 * The keychain of the user who runs this process: Keychain on macOS, Credential Manager on Windows, the Secret Service
 * on Linux. The native library is loaded at the first call, since loading it throws where libsecret is missing.
 */
export function systemKeychain({
  sessionBus,
  platform = process.platform,
  load = loadKeytar,
  limits = { call: 60_000, probe: 5_000 },
}: SystemKeychainOptions): Keychain {
  const hasSecretService = platform !== 'darwin' && platform !== 'win32';
  const calls = new SerialQueue();
  const closing = new AbortController();
  let probes = 0;

  const busFault = async (limit: number): Promise<BusFault | undefined> =>
    sessionBus === undefined ? 'no-bus' : secretServiceFault(sessionBus, limit, closing.signal);

  /** The service is asked again each time: it may be installed, started or stopped while the vault runs. */
  async function ready(): Promise<PasswordStore> {
    if (hasSecretService) {
      const fault = await busFault(limits.probe * 0.8);
      if (fault !== undefined) throw new Unavailable(reasons[fault]);
    }
    try {
      return await load();
    } catch (error) {
      throw new Unavailable(hasSecretService ? reasons['no-library'] : reasons['no-addon'], error);
    }
  }

  /** One call at a time: a call that hangs takes one of the few threads there are, and must not take them all. */
  async function call<T>(limit: number, use: (store: PasswordStore) => Promise<T>): Promise<T> {
    if (calls.isOverdue) throw silent();
    return calls.runWithin(limit, silent, async (signal) => {
      const store = await ready();
      signal.throwIfAborted();
      try {
        return await use(store);
      } catch (error) {
        throw error instanceof Unavailable ? error : new Unavailable(reasonOf(error, platform), error);
      }
    });
  }

  /** A service that answers at once, or is taken for silent: who asks for the state of the vault waits for it. */
  async function isSilent(): Promise<KeychainState | undefined> {
    const fault = await busFault(limits.probe * 0.2);
    return fault === undefined ? undefined : notAvailable(reasons[fault]);
  }

  return {
    ...(hasSecretService ? { isSilent } : {}),
    close: () => {
      closing.abort();
    },
    get: (account) =>
      call(limits.call, async (store) => {
        const text = (await store.getPassword(service, account)) ?? (await adopt(store, account));
        if (text === null) return undefined;
        // Of the text itself nothing can be erased; the Buffer may share memory with others.
        const decoded = Buffer.from(text, 'base64');
        const secret = copyOfBytes(decoded);
        decoded.fill(0);
        return secret;
      }),
    set: (account, secret) =>
      call(limits.call, (store) =>
        store.setPassword(service, account, Buffer.from(secret).toString('base64')),
      ),
    delete: (account) =>
      call(limits.call, async (store) => {
        await store.deletePassword(service, account);
        await store.deletePassword(formerService, account);
      }),
    probe: async () => {
      // Two processes may probe at once: each has an entry of its own.
      probes += 1;
      const account = `probe-${process.pid}-${probes}`;
      const value = `probe ${process.hrtime.bigint()}`;
      try {
        const kept = await call(limits.probe, async (store) => {
          await store.setPassword(service, account, value);
          const read = await store.getPassword(service, account);
          await store.deletePassword(service, account);
          return read;
        });
        return kept === value ? { available: true } : notAvailable(reasons.forgetful);
      } catch (error) {
        return notAvailable(error instanceof Unavailable ? error.reason : { text: oneLine(error) });
      }
    },
  };
}

/** Moves an entry from the former service to ours. @returns what it holds; null where there is none. */
async function adopt(store: PasswordStore, account: string): Promise<string | null> {
  const text = await store.getPassword(formerService, account);
  if (text === null) return null;
  await store.setPassword(service, account, text);
  await store.deletePassword(formerService, account);
  return text;
}

const loadKeytar = async (): Promise<PasswordStore> => (await import('keytar')).default;

interface Reason extends Pick<Extract<KeychainState, { available: false }>, 'quiet'> {
  /** One line for a person. */
  readonly text: string;
}

const instead = 'or use a password instead';

const reasons = {
  'no-bus': {
    quiet: true,
    text: `There is no D-Bus session for the keychain. Run Keyhearth in a desktop session or under dbus-run-session, ${instead}.`,
  },
  'foreign-bus': {
    quiet: true,
    text: `The D-Bus session (DBUS_SESSION_BUS_ADDRESS) is not a socket of this user on this computer, so another user or computer could read what the keychain keeps. Run Keyhearth in a desktop session or under dbus-run-session, ${instead}.`,
  },
  'bus-silent': {
    quiet: true,
    text: `The D-Bus session does not answer. Log out and in again, ${instead}.`,
  },
  'no-service': {
    quiet: true,
    text: `No Secret Service (keyring) runs in this session. Install one with "apt install gnome-keyring", turn it on in KeePassXC or KWallet, ${instead}.`,
  },
  'service-silent': {
    quiet: true,
    text: `The Secret Service (keyring) of this session does not answer. Restart it or log out and in again, ${instead}.`,
  },
  'no-library': {
    quiet: true,
    text: `The keychain library cannot be loaded: libsecret may be missing. Install it with "apt install libsecret-1-0 gnome-keyring" and restart Keyhearth, ${instead}.`,
  },
  'no-addon': {
    quiet: true,
    text: `The keychain library cannot be loaded. Install Keyhearth again, ${instead}.`,
  },
  'no-collection': {
    text: `The keyring of this session is not set up. Log in to the desktop once, or give "gnome-keyring-daemon --replace --unlock" a password on standard input and restart Keyhearth, ${instead}.`,
  },
  'keyring-locked': {
    text: `The keyring is locked. Unlock it in the desktop, or give "gnome-keyring-daemon --replace --unlock" its password on standard input and restart Keyhearth, ${instead}.`,
  },
  'keyring-restarted': {
    text: `The keyring of this session was restarted while Keyhearth ran. Restart Keyhearth, ${instead}.`,
  },
  locked: {
    text: `The keychain is locked or denies Keyhearth access. Unlock it, try again and choose “Allow” if asked, ${instead}.`,
  },
  silent: {
    text: `The keychain did not answer in time. Unlock it in its own window if there is one and try again, ${instead}.`,
  },
  forgetful: {
    text: `The keychain did not give back what was stored. Restart it, ${instead}.`,
  },
  'no-session': {
    text: `The keychain does not work in this kind of session (a service or a remote login). Run Keyhearth in a desktop session, ${instead}.`,
  },
} as const satisfies Record<BusFault, Reason> & Record<string, Reason>;

/** Messages of the native libraries, as far as they are known, and their meaning. */
const knownFailures: readonly { readonly says: RegExp; readonly reason: Reason }[] = [
  // libsecret opens its session once in the life of a process.
  { says: /session wrapping the secret/i, reason: reasons['keyring-restarted'] },
  { says: /autolaunch D-Bus|Could not connect/i, reason: reasons['no-bus'] },
  { says: /not provided by any \.service|ServiceUnknown/i, reason: reasons['no-service'] },
  {
    says: /does not exist at path|No such (object|collection|secret collection)/i,
    reason: reasons['no-collection'],
  },
  { says: /Timeout was reached|did not receive a reply|NoReply/i, reason: reasons['service-silent'] },
  { says: /locked collection|is locked|dismissed/i, reason: reasons['keyring-locked'] },
  { says: /user name or passphrase|cancell?ed/i, reason: reasons.locked },
  { says: /interaction is not allowed|logon session does not exist/i, reason: reasons['no-session'] },
];

const names: Partial<Record<NodeJS.Platform, string>> = { darwin: 'Keychain', win32: 'Credential Manager' };

function reasonOf(error: unknown, platform: NodeJS.Platform): Reason {
  const text = oneLine(error);
  const known = knownFailures.find(({ says }) => says.test(text));
  if (known !== undefined) return known.reason;
  const name = names[platform] ?? 'The Secret Service (keyring)';
  return { text: `${name} refused: ${text.replace(/\.$/, '')}. Try again, ${instead}.` };
}

/** The platform's own words, in whatever language it speaks, fit for one line. */
function oneLine(error: unknown): string {
  const text = messageOf(error).replace(/\s+/g, ' ').trim();
  return text.length <= 160 ? text : `${upTo(text, 157)}...`;
}

const notAvailable = ({ text, quiet }: Reason): KeychainState => ({
  available: false,
  reason: text,
  ...(quiet && { quiet }),
});

const silent = (): Unavailable => new Unavailable(reasons.silent);

class Unavailable extends KeyhearthError {
  readonly reason: Reason;

  constructor(reason: Reason, cause?: unknown) {
    super('INVALID_ARGUMENT', reason.text, { cause });
    this.reason = reason;
  }
}

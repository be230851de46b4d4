/** Watches if this machine is connected to a network, without a request to another machine. */
import { networkInterfaces } from 'node:os';
import { every } from '../../lib/concurrency/every.ts';
import type { OnFault } from '../../lib/faults.ts';

export interface NetworkWatchParts {
  /** A yes may be wrong; a no is not. `hasAddress` unless the shell knows better. */
  readonly isOnline?: (() => boolean) | undefined;
  readonly onChange: () => void;
  readonly onFault: OnFault;
  readonly everyMs?: number;
}

/** Looks now and then, until it is closed. */
export class NetworkWatch {
  readonly close: () => void;
  #online: boolean;

  constructor({ isOnline = hasAddress, onChange, onFault, everyMs = 2_000 }: NetworkWatchParts) {
    this.#online = isOnline();
    const look = (): void => {
      const before = this.#online;
      this.#online = isOnline();
      if (this.#online !== before) onChange();
    };
    this.close = every(everyMs, look, onFault);
  }

  get online(): boolean {
    return this.#online;
  }
}

type Interfaces = Readonly<
  Partial<Record<string, readonly { readonly address: string; readonly internal: boolean }[]>>
>;

/** True if an interface has an address beyond loopback and link-local. */
export const hasAddress = (interfaces: Interfaces = networkInterfaces()): boolean =>
  Object.values(interfaces).some((addresses) =>
    addresses?.some(({ address, internal }) => !internal && !/^(169\.254\.|fe80:)/i.test(address)),
  );

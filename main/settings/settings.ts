/**
 * The settings of this computer. Those that weaken the vault's protection (auto-lock, the network) are rows of its file, so
 * that a change from outside is noticed as any other. The desktop shell answers for what it keeps itself.
 */
import { z } from 'zod';
import type { Settings as SettingsShown, SettingsChange } from '../../preload/contract.ts';
import { defined } from '../lib/defined.ts';
import { parse } from '../lib/parse.ts';
import type { Reader } from '../storage/connection.ts';
import { retryDeliveriesNow } from '../storage/tables/outbox.ts';
import {
  getSetting,
  isNetworkOn,
  limitsOf,
  putSetting,
  type SettingName,
} from '../storage/tables/settings.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { requireVault } from '../storage/tables/vault.ts';
import type { Clock } from '../lib/clock.ts';
import { KeyhearthError } from '../lib/errors.ts';
import type { DesktopCapabilities } from '../lib/desktop-capabilities.ts';

export interface SettingsParts {
  readonly units: UnitOfWork;
  readonly keys: { checkUnlocked(): void };
  readonly clock: Clock;
  readonly shell: DesktopCapabilities;
  readonly onChange: () => void;
}

export type AutoLock = SettingsShown['autoLock'];

const defaultAutoLock: AutoLock = {
  idleMinutes: 10,
  requestsKeepOpen: true,
  onScreenLock: true,
  onSuspend: true,
};

const longestIdleMinutes = 24 * 60;

/** So many users make lists that are still shown in one answer. */
const mostTimes = 100;

const change = z.strictObject({
  autoLock: z
    .strictObject({
      idleMinutes: z.int().min(1).max(longestIdleMinutes).nullable().optional(),
      requestsKeepOpen: z.boolean().optional(),
      onScreenLock: z.boolean().optional(),
      onSuspend: z.boolean().optional(),
    })
    .optional(),
  // Lower ones belong to the system, and a service of a user cannot have them.
  port: z.int().min(1024).max(65_535).nullable().optional(),
  network: z.boolean().optional(),
  limits: z.int().min(1).max(mostTimes).optional(),
  startAtLogin: z.boolean().optional(),
  updates: z.enum(['off', 'ask']).optional(),
});

export class Settings {
  readonly #parts: SettingsParts;

  constructor(parts: SettingsParts) {
    this.#parts = parts;
  }

  read(): SettingsShown {
    const { units, shell } = this.#parts;
    return {
      ...units.read((tx) => ({
        autoLock: autoLockOf(tx),
        port: portOf(tx),
        network: isNetworkOn(tx),
        limits: limitsOf(tx),
      })),
      startAtLogin: shell.startAtLogin?.read() ?? null,
      updates: shell.updates?.read() ?? null,
      desktop: shell.desktop?.() ?? null,
    };
  }

  /** The port that the API is served at by the settings; undefined for the default. Also of a file that does not hold. */
  port(): number | undefined {
    return this.#parts.units.readUnverified(portOf) ?? undefined;
  }

  /** When an unlocked vault is locked without being asked. */
  autoLock(): AutoLock {
    return this.#parts.units.read(autoLockOf);
  }

  /** @throws KeyhearthError VAULT_LOCKED, VAULT_MISSING, or FAILED_PRECONDITION for what this shell cannot. */
  async change(input: unknown): Promise<SettingsShown> {
    const { units, keys, clock, shell, onChange } = this.#parts;
    const wanted = withoutUndefined(parse(change, input, 'settings'));
    units.read(requireVault);
    keys.checkUnlocked();
    checkShell(shell, wanted);
    const { autoLock, port, network, limits, startAtLogin, updates } = wanted;
    await units.write((tx) => {
      const put = (name: SettingName, value: unknown): void => {
        putSetting(tx, name, JSON.stringify(value), clock.now());
      };
      if (autoLock !== undefined) put('autoLock', { ...autoLockOf(tx), ...autoLock });
      if (port !== undefined) put('port', port);
      if (network !== undefined) put('network', network);
      if (limits !== undefined) put('limits', limits);
      if (network === true) retryDeliveriesNow(tx);
    });
    if (startAtLogin !== undefined) await shell.startAtLogin?.write(startAtLogin);
    if (updates !== undefined) await shell.updates?.write(updates);
    onChange();
    return this.read();
  }
}

function checkShell(shell: DesktopCapabilities, { startAtLogin, updates }: SettingsChange): void {
  const cannot =
    startAtLogin !== undefined && shell.startAtLogin === undefined
      ? 'startAtLogin'
      : updates !== undefined && shell.updates === undefined
        ? 'updates'
        : undefined;
  if (cannot === undefined) return;
  throw new KeyhearthError(
    'FAILED_PRECONDITION',
    `settings.${cannot}: this Keyhearth runs without the desktop app that could do it, or on a system where it cannot`,
  );
}

const autoLockOf = (tx: Reader): AutoLock => ({
  ...defaultAutoLock,
  ...(JSON.parse(getSetting(tx, 'autoLock') ?? '{}') as Partial<AutoLock>),
});

const portOf = (tx: Reader): number | null => JSON.parse(getSetting(tx, 'port') ?? 'null') as number | null;

/** zod's optional fields may also be undefined, which here means that they are left out. */
function withoutUndefined({ autoLock, ...rest }: z.output<typeof change>): SettingsChange {
  return {
    ...(autoLock === undefined ? {} : { autoLock: defined(autoLock) }),
    ...defined(rest),
  };
}

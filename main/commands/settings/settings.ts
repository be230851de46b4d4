/** `keyhearth settings`: how the vault behaves on this computer, by the names that its settings have in JSON. */
import type { Settings, SettingsChange } from '../../../preload/contract.ts';
import { defaultPort, type Config } from '../../app/config.ts';
import { withOpened } from '../backup/backup.ts';
import { withVault } from '../shared/opened-vault.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { table } from '../shared/table.ts';
import { readSecret, type SecretOptions } from '../shared/proof.ts';
import type { SettingName } from './setting-names.ts';

type Value = boolean | number | string | null;

interface Named {
  readonly read: (settings: Settings) => Value;
  /** @throws CommandError for a text that is none of its values. */
  readonly change: (text: string) => SettingsChange;
  /** Writes the value for a person. */
  readonly tell: (value: Value) => string;
}

const onOff = (value: Value): string =>
  value === null ? 'not available here' : value === true ? 'on' : 'off';

const named: Readonly<Record<SettingName, Named>> = {
  'autoLock.idleMinutes': {
    read: ({ autoLock }) => autoLock.idleMinutes,
    change: (text) => ({
      autoLock: {
        idleMinutes: text === 'never' ? null : numberOf('autoLock.idleMinutes', text, 'never', 1, 24 * 60),
      },
    }),
    tell: (value) => (value === null ? 'never' : `${String(value)} minutes`),
  },
  'autoLock.requestsKeepOpen': {
    read: ({ autoLock }) => autoLock.requestsKeepOpen,
    change: (text) => ({
      autoLock: { requestsKeepOpen: switchOf('autoLock.requestsKeepOpen', text) },
    }),
    tell: onOff,
  },
  'autoLock.onScreenLock': {
    read: ({ autoLock }) => autoLock.onScreenLock,
    change: (text) => ({ autoLock: { onScreenLock: switchOf('autoLock.onScreenLock', text) } }),
    tell: onOff,
  },
  'autoLock.onSuspend': {
    read: ({ autoLock }) => autoLock.onSuspend,
    change: (text) => ({ autoLock: { onSuspend: switchOf('autoLock.onSuspend', text) } }),
    tell: onOff,
  },
  port: {
    read: ({ port }) => port,
    change: (text) => ({ port: text === 'usual' ? null : numberOf('port', text, 'usual', 1024, 65_535) }),
    tell: (value) => (value === null ? `usual (${String(defaultPort)})` : String(value)),
  },
  network: {
    read: ({ network }) => network,
    change: (text) => ({ network: switchOf('network', text) }),
    tell: onOff,
  },
  limits: {
    read: ({ limits }) => limits,
    change: (text) => ({ limits: text === 'usual' ? 1 : numberOf('limits', text, 'usual', 1, 100) }),
    tell: (value) => (value === 1 ? 'usual' : `${String(value)} times the usual limits`),
  },
  startAtLogin: {
    read: ({ startAtLogin }) => startAtLogin,
    change: (text) => ({ startAtLogin: switchOf('startAtLogin', text) }),
    tell: onOff,
  },
  updates: {
    read: ({ updates }) => updates,
    change: (text) => {
      if (text !== 'off' && text !== 'ask') throw invalid('updates', text, 'off or ask');
      return { updates: text };
    },
    tell: (value) => (value === null ? 'not available here' : String(value)),
  },
};

export async function listSettings(config: Config, json: boolean): Promise<void> {
  const settings = await read(config);
  print(
    json,
    settings,
    table(
      ['Setting', 'Value'],
      Object.entries(named).map(([name, setting]) => [name, setting.tell(setting.read(settings))]),
    ),
  );
}

export async function getSetting(config: Config, name: SettingName, json: boolean): Promise<void> {
  const setting = named[name];
  const value = setting.read(await read(config));
  print(json, { name, value }, setting.tell(value));
}

export async function setSetting(
  config: Config,
  name: SettingName,
  text: string,
  { json, ...options }: SecretOptions & { readonly json: boolean },
): Promise<void> {
  const setting = named[name];
  const change = setting.change(text);
  const settings = await withOpened(config, await readSecret(options), (vault) =>
    vault.call('changeSettings', change),
  );
  const value = setting.read(settings);
  print(
    json,
    { name, value },
    name === 'port'
      ? `port: ${setting.tell(value)}. Takes effect at the next start; update the address in your scripts.`
      : `${name}: ${setting.tell(value)}`,
  );
}

const read = (config: Config): Promise<Settings> => withVault(config, (vault) => vault.call('settings'));

function switchOf(name: string, text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw invalid(name, text, 'on or off');
}

function numberOf(name: string, text: string, word: string, least: number, most: number): number {
  const number = /^[0-9]{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw invalid(name, text, `${word}, or a number from ${String(least)} to ${String(most)}`);
}

const invalid = (name: string, text: string, expected: string): CommandError =>
  new CommandError(exitCodes.usage, `invalid ${name} ${JSON.stringify(text)}: expected ${expected}`);

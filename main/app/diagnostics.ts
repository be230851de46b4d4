/** A technical text for who helps with a problem: what runs here, in what state, and the end of its log. It names no person and no key. */
import { readdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { About, SelfTestFinding, VaultStatus } from '../../preload/contract.ts';
import { redact } from '../lib/text/redact.ts';
import { homeDirectory } from './home-directory.ts';
import { newestLogLines } from './service-log.ts';

export interface DiagnosticsParts {
  readonly about: About;
  readonly status: VaultStatus;
  /** Null for a vault that is not unlocked: most of it cannot be looked at. */
  readonly findings: readonly SelfTestFinding[] | null;
}

const mostLines = 120;

export function describeDiagnostics({ about, status, findings }: DiagnosticsParts): string {
  const { directory } = status;
  const lines = [
    `Keyhearth ${about.version}, built from ${about.commit ?? 'its sources'}`,
    `${about.system}; ${about.runtime.map(({ name, version }) => `${name} ${version}`).join(', ')}`,
    ...describeState(status, about.schema),
    ...(directory === null ? [] : ['', 'Files:', ...filesOf(directory)]),
    '',
    'Self-test:',
    ...(findings === null
      ? ['  not run, as the vault is not unlocked']
      : findings.map(({ check, outcome, detail }) => `  ${outcome.padEnd(6)} ${check}: ${detail}`)),
    '',
    'Log of the service:',
    ...newestLogLines(directory).trimEnd().split('\n').slice(-mostLines),
  ];
  return redact(lines.join('\n'), knownNames(directory));
}

function describeState(status: VaultStatus, schema: number): string[] {
  const { state, frozen, keyslots, keychain, tampering, storage, longestTurn } = status;
  const tables = [...new Set(tampering?.findings.map(({ table }) => table))];
  return [
    `Vault: ${state}${frozen === null ? '' : ', frozen'}, schema ${String(schema)}, opens with ${keyslots.join(', ') || 'nothing yet'}`,
    `Keychain: ${keychain.available ? 'available' : keychain.reason}`,
    ...(tampering === null
      ? []
      : [`Changed outside Keyhearth: ${String(tampering.total)} findings in ${tables.join(', ')}`]),
    ...(storage === null ? [] : [`Disk: ${storage.cause}, since ${new Date(storage.since).toISOString()}`]),
    ...(longestTurn === null ? [] : [`Longest turn: ${longestTurn.ms.toFixed(0)} ms, ${longestTurn.name}`]),
  ];
}

/** Names of the vault's own files alone: others may have been put there by a person. */
const ownFile = /^(?:vault\.[a-z-]+|keyhearth\.log(?:\.\d)?|endpoint\.json|lock|frozen|not-frozen)$/;

function filesOf(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => ownFile.test(name))
    .sort()
    .map((name) => {
      const found = statSync(join(directory, name), { throwIfNoEntry: false });
      return `  ${name}: ${found === undefined ? 'gone' : `${String(found.size)} bytes, mode ${(found.mode & 0o777).toString(8)}`}`;
    });
}

const knownNames = (directory: string | null): (readonly [string, string])[] => [
  ...(directory === null ? [] : [[directory, '<vault>'] as const]),
  // Without a home it is the root directory, which begins every path.
  ...[homeDirectory()].filter((home) => home.length > 3).map((home) => [home, '~'] as const),
  ...userName().map((name) => [`/${name}/`, '/<user>/'] as const),
];

/** A container may have no entry for its user. */
function userName(): string[] {
  try {
    return [userInfo().username];
  } catch {
    return [];
  }
}

/** `keyhearth audit timeline`: the events of the vault itself. */
import type { SecurityEvent } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { securityEventTitles } from '../../lib/text/security-events.ts';
import { when } from '../backup/backup.ts';
import { withVault } from '../shared/opened-vault.ts';
import { print } from '../shared/output.ts';
import { table } from '../shared/table.ts';

export async function auditTimeline(config: Config, json: boolean): Promise<void> {
  const { events } = await withVault(config, (vault) => vault.call('securityEvents'));
  print(
    json,
    { events },
    events.length === 0
      ? 'No security events.'
      : table(['Last', 'Event', 'With', 'Times', 'First'], events.map(rowOf)),
  );
}

const rowOf = ({ kind, way, count, firstAt, lastAt }: SecurityEvent) => [
  when(lastAt),
  kind === 'wrongSecret' || kind === 'backupFailed'
    ? { text: securityEventTitles[kind], tone: 'bad' as const }
    : securityEventTitles[kind],
  way === 'recovery' ? 'recovery phrase' : (way ?? ''),
  String(count),
  count === 1 ? '' : when(firstAt),
];

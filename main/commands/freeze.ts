/** `latchkey freeze`: of the vault that runs, or of its file where none does. */
import type { Config } from '../config.ts';
import { describeFreeze } from '../freeze-signal.ts';
import { withVault } from './opened-vault.ts';
import { print } from './output.ts';

export async function freeze(config: Config, json: boolean): Promise<void> {
  const { frozen } = await withVault(config, (vault) => vault.call('freeze'));
  const details = frozen === null ? [] : [describeFreeze(frozen)];
  print(
    json,
    { frozen },
    [
      'The vault is frozen: its keys are out of memory, and what waits for votes is rejected when it opens again. It opens with its password or recovery phrase alone: `latchkey unlock`.',
      ...details,
    ].join('\n'),
  );
}

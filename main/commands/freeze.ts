/** `latchkey freeze`: of the vault that runs, or of its file where none does. */
import type { Config } from '../config.ts';
import { withVault } from './opened-vault.ts';
import { print } from './output.ts';

export async function freeze(config: Config, json: boolean): Promise<void> {
  const { frozen } = await withVault(config, (vault) => vault.call('freeze'));
  print(
    json,
    { frozen },
    'The vault is frozen: its keys are out of memory, and what waited for votes is rejected. It opens with its password or recovery phrase alone: `latchkey unlock`.',
  );
}

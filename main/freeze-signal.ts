/** `kill -USR2` freezes the vault: for a script, a hardware key or another session, without the command and its files. */
import type { VaultBridge } from '../preload/contract.ts';
import { owned } from './lib/faults.ts';

/**
 * Listens for the signal; Windows has none, and there nothing comes.
 * @returns what ends it.
 */
export function freezeOnSignal(bridge: Pick<VaultBridge, 'freeze'>): () => void {
  const freeze = owned(() =>
    bridge.freeze().then(
      () => process.stderr.write('The vault is frozen: its keys are out of memory.\n'),
      (error: unknown) =>
        process.stderr.write(
          `latchkey: the vault did not freeze: ${error instanceof Error ? error.message : String(error)}\n`,
        ),
    ),
  );
  process.on('SIGUSR2', freeze);
  return () => {
    process.off('SIGUSR2', freeze);
  };
}

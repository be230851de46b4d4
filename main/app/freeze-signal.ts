/** `kill -USR2` freezes the vault: for a script, a hardware key or another session, without the command and its files. */
import type { Frozen, VaultRpc } from '../../preload/contract.ts';
import { KeyhearthError } from '../lib/errors.ts';
import { owned } from '../lib/faults.ts';
import { logFault, logWarning } from '../lib/log.ts';

/** Says what was signed last before a freeze. */
export const describeLastSignature = ({ lastSignature }: Frozen): string =>
  lastSignature === null
    ? 'None of the newest activities is a signature.'
    : `The last signature was given at ${new Date(lastSignature.at).toISOString()}: activity ${lastSignature.activityId} (${lastSignature.type}).`;

/** Says since when the vault is frozen, and what was signed last before that. */
export const describeFreeze = (frozen: Frozen): string =>
  `Frozen at ${new Date(frozen.at).toISOString()}. ${describeLastSignature(frozen)}`;

/**
 * Listens for the signal; Windows has none, and there nothing comes.
 * @returns what ends it.
 */
export function freezeOnSignal(rpc: Pick<VaultRpc, 'freeze'>): () => void {
  const freeze = owned(() =>
    rpc.freeze().then(
      ({ frozen }) => {
        const details = frozen === null ? [] : [describeFreeze(frozen)];
        logWarning(['The vault is frozen: its keys are out of memory.', ...details].join('\n'));
      },
      (error: unknown) => {
        if (error instanceof KeyhearthError) logWarning(`keyhearth: ${error.message}`);
        else logFault(error);
      },
    ),
  );
  process.on('SIGUSR2', freeze);
  return () => {
    process.off('SIGUSR2', freeze);
  };
}

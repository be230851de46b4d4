/** `kill -USR2` freezes the vault: for a script, a hardware key or another session, without the command and its files. */
import type { Frozen, VaultBridge } from '../preload/contract.ts';
import { owned } from './lib/faults.ts';

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
export function freezeOnSignal(bridge: Pick<VaultBridge, 'freeze'>): () => void {
  const freeze = owned(() =>
    bridge.freeze().then(
      ({ frozen }) => {
        const details = frozen === null ? '' : `${describeFreeze(frozen)}\n`;
        process.stderr.write(`The vault is frozen: its keys are out of memory.\n${details}`);
      },
      (error: unknown) =>
        process.stderr.write(`latchkey: ${error instanceof Error ? error.message : String(error)}\n`),
    ),
  );
  process.on('SIGUSR2', freeze);
  return () => {
    process.off('SIGUSR2', freeze);
  };
}

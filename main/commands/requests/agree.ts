/** A question to the person at the terminal, before what cannot be taken back is done. */
import { visibleName } from '../../lib/text/visible-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { askToGoOn } from '../shared/prompts.ts';
import { canAsk } from '../shared/secrets.ts';

/** True if a person seems to run the command. A command in a script asks nothing. */
export const onTerminal = (): boolean => process.stdin.isTTY || process.stderr.isTTY;

interface Question {
  /** The question, for the error where no person can answer. */
  readonly what: string;
  /** The option that answers it on the command line. */
  readonly otherwise: string;
  /** The consequence of the answer no. */
  readonly undone: string;
}

/** @throws CommandError unless the person at the terminal says yes. */
export async function agree(message: string, { what, otherwise, undone }: Question): Promise<void> {
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      `cannot ask ${what}: standard input and standard error are not both a terminal; expected ${otherwise}`,
    );
  }
  // It may have names of others in it.
  await askToGoOn({ message: visibleName(message), initialValue: false }, undone);
}

/** Asks the person at the terminal before something is deleted. A script, and `--yes`, are asked nothing. */
export async function agreeToDelete(what: string, yes: boolean | undefined): Promise<void> {
  if (yes === true || !onTerminal()) return;
  await agree(`Delete ${what}?`, {
    what: 'whether to delete it',
    otherwise: '--yes',
    undone: 'nothing was deleted',
  });
}

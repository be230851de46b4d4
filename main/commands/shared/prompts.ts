/**
 * Questions to the person at the terminal, on standard error: standard output is for the result. While one is asked, the terminal
 * shows no typed keys and no cursor. It shows both again whatever ends the command.
 */
import type { confirm, password, text } from '@clack/prompts';
import { CommandError, exitCodes } from './output.ts';
import { beforeEnding } from './signals.ts';

type Prompts = typeof import('@clack/prompts');
type Wish<Prompt extends (wish: never) => unknown> = Omit<Parameters<Prompt>[0], 'output'>;

const showCursor = '\u001b[?25h';
const output = process.stderr;

/** @param undone What was not done where a person cancels. @throws CommandError then. */
export const askForText = (wish: Wish<typeof text>, undone: string): Promise<string> =>
  asked<string>((prompts) => prompts.text({ ...wish, output }), undone);

/** The same, of text that is not shown. */
export const askForHidden = (wish: Wish<typeof password>, undone: string): Promise<string> =>
  asked<string>((prompts) => prompts.password({ ...wish, output }), undone);

/** The same, of yes or no. */
export const askYesOrNo = (wish: Wish<typeof confirm>, undone: string): Promise<boolean> =>
  asked<boolean>((prompts) => prompts.confirm({ ...wish, output }), undone);

/** As `askYesOrNo`, where no is to cancel. */
export async function askToGoOn(wish: Wish<typeof confirm>, undone: string): Promise<void> {
  if (!(await askYesOrNo(wish, undone))) throw cancelled(undone);
}

async function asked<Answer extends string | boolean>(
  ask: (prompts: Prompts) => Promise<Answer | symbol>,
  undone: string,
): Promise<Answer> {
  // Loading the library takes longer than many a command.
  const prompts = await import('@clack/prompts');
  using _ = beforeEnding(() => {
    process.stdin.setRawMode(false);
    output.write(showCursor);
  });
  const answer = await Promise.race([ask(prompts), untilTerminalCloses()]);
  if (typeof answer === 'symbol') throw cancelled(undone);
  return answer;
}

/** A terminal that closes sends no signal to a process that is not of its session: its input ends. */
const untilTerminalCloses = (): Promise<symbol> =>
  new Promise((resolve) => {
    process.stdin.prependOnceListener('end', () => {
      // The keys cannot be shown again there. The line reader would take that for an error of its own, which ends the process.
      process.stdin.removeAllListeners('error').on('error', () => undefined);
      resolve(Symbol('closed'));
    });
  });

const cancelled = (undone: string): CommandError =>
  new CommandError(exitCodes.failed, `cancelled: ${undone}`);

/** The declaration of `keyhearth completion`. */
import { Argument, Option, type Command } from 'commander';
import { thisProgram } from '../../app/this-program.ts';
import { offeredKinds, type OfferedKind } from './kinds.ts';

export function declareCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'Shell to complete in').choices(['bash', 'zsh', 'fish']))
    // The script asks for it at the Tab key, and gives the words before the cursor.
    .addOption(new Option('--offer <kind>').choices(offeredKinds).hideHelp())
    .allowExcessArguments()
    .action(
      async (
        shell: 'bash' | 'zsh' | 'fish',
        { offer }: { readonly offer?: OfferedKind },
        command: Command,
      ) => {
        if (offer !== undefined) {
          const { printValues } = await import('./values.ts');
          return printValues(offer, command.args.slice(1));
        }
        const { completionScript } = await import('./completion.ts');
        process.stdout.write(completionScript(program, shell, thisProgram()));
        return undefined;
      },
    );
}

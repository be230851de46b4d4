/** The declaration of `keyhearth completion`. */
import { Argument, type Command } from 'commander';

export function declareCompletion(program: Command): void {
  program
    .command('completion')
    .description('write a script with which a shell completes commands and options at the Tab key')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('./completion.ts');
      process.stdout.write(completionScript(program, shell));
    });
}

/** The declaration of `keyhearth completion`. */
import { Argument, type Command } from 'commander';

export function declareCompletion(program: Command): void {
  program
    .command('completion')
    .description('Print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'Shell to complete in').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('./completion.ts');
      process.stdout.write(completionScript(program, shell));
    });
}

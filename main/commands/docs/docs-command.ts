/** The declaration of `keyhearth docs`. */
import type { Command } from 'commander';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareDocs(program: Command): void {
  addSubcommand(program, {
    name: 'docs [page]',
    description: 'List the pages of the documentation, or print one',
    describes: { page: 'Page to print, such as policies or reference/errors' },
    run: async (config, { json }, [page]) => {
      const { listPages, printPage } = await import('./docs.ts');
      await (page === undefined ? listPages(config, json) : printPage(config, page, json));
    },
  });
}

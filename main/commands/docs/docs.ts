/** `keyhearth docs`: the documentation of this version, in the terminal. It needs no vault. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { documentationUrl } from '../../../docs/page-urls.ts';
import { groups, pages } from '../../../docs/pages.ts';
import type { Config } from '../../app/config.ts';
import { reasonOf } from '../../lib/text/reasons.ts';
import { findRunning } from '../shared/client.ts';
import { findNamed } from '../shared/named.ts';
import { CommandError, exitCodes, print } from '../shared/output.ts';
import { table } from '../shared/table.ts';

export async function listPages(config: Config, json: boolean): Promise<void> {
  const url = await urlOfService(config);
  const addressed = pages.map((page) => ({
    ...page,
    url: url === undefined ? null : documentationUrl(url, page.path),
  }));
  print(json, { pages: addressed }, [
    table(
      ['Page', 'Content'],
      groups.flatMap((group) => group.pages.map(({ path, summary }) => [path, summary])),
    ),
    '',
    'Print a page with `keyhearth docs PAGE`.',
    url === undefined
      ? 'A running vault serves the pages in a browser, at /docs/.'
      : `In a browser: ${url}/docs/`,
  ]);
}

/** @param wanted The page's path, the beginning of one, its name without `reference/`, or its title. */
export async function printPage(config: Config, wanted: string, json: boolean): Promise<void> {
  const page = findNamed(
    'page',
    wanted,
    pages,
    ({ path, title }) => ({ id: path, name: title, otherId: path.replace('reference/', '') }),
    'keyhearth docs',
  );
  const text = await textOfPage(config, page.path);
  print(json, { ...page, text }, text.trimEnd());
}

/** The Markdown of a page, as the build has it. */
export async function textOfPage({ siteDirectory }: Config, path: string): Promise<string> {
  const file = join(siteDirectory, 'docs', `${path}.md`);
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(exitCodes.failed, `${file} cannot be read: ${reasonOf(error)}`);
  });
}

/** @returns the address of the running vault's port. A vault that does not answer keeps no page from its reader. */
const urlOfService = async ({ dataDirectory }: Config): Promise<string | undefined> =>
  dataDirectory === null
    ? undefined
    : findRunning(dataDirectory).then(
        (running) => running?.url,
        () => undefined,
      );

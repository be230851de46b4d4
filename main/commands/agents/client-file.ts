/** The configuration of an MCP client: a JSON file with `mcpServers`. Its other entries stay, and the file before is kept. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../../app/config.ts';
import { makeDirectory } from '../../files/directories.ts';
import { changeFile, replaceFile, whereItIsKept } from '../../files/new-files.ts';
import { serverOf, type ClientEntry } from '../../lib/policies/mcp-programs.ts';
import { readTextFile } from '../shared/file-text.ts';
import { CommandError, exitCodes } from '../shared/output.ts';
import { agreeToWrite } from '../ssh/setup.ts';
import { oneAfterAnother } from '../vault/one-after-another.ts';

/** @throws CommandError where the entry is not in the file afterwards. */
export async function writeClient(
  config: Config,
  file: string,
  name: string,
  entry: ClientEntry,
  yes: boolean | undefined,
): Promise<void> {
  const server = serverOf(name);
  serversIn(textOf(file));
  const shown = JSON.stringify({ [server]: entry }, null, 2);
  await agreeToWrite(`To add to mcpServers in ${whereItIsKept(file)}:\n${shown}`, yes);
  oneAfterAnother(config, () => {
    // Its client may have written it while the person read.
    const before = textOf(file);
    const { settings, servers } = serversIn(before);
    makeDirectory(dirname(file));
    if (before !== '') replaceFile(`${file}.before-keyhearth`, before);
    const after = { ...settings, mcpServers: { ...servers, [server]: entry } };
    changeFile(file, `${JSON.stringify(after, null, 2)}\n`);
  });
}

const textOf = (file: string): string => (existsSync(file) ? readTextFile(file, file) : '');

/** @throws CommandError where an entry cannot be added. */
function serversIn(text: string): { readonly settings: object; readonly servers: object } {
  const settings = read(text);
  const servers = settings['mcpServers'] ?? {};
  if (typeof servers !== 'object' || Array.isArray(servers)) throw unreadable('mcpServers is not an object');
  return { settings, servers };
}

function read(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Comments, for example: a file that is written again would lose them.
  }
  throw unreadable('it is not a JSON object');
}

const unreadable = (problem: string): CommandError =>
  new CommandError(exitCodes.failed, `${problem}. Add the entry yourself`);

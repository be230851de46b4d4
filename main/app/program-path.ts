/** Where a program that this process starts by its name is found. */
import { statSync } from 'node:fs';
import { win32 } from 'node:path';
import { environmentWithoutKey } from './config.ts';

/** Of programs that Windows runs without a shell. */
const endings = ['.com', '.exe'] as const;

/**
 * Windows looks for a bare name in the current directory before all others, and that may be a repository of a stranger's:
 * there the name becomes a path, of the system's programs or of the PATH. Other systems look along the PATH alone.
 * @param environment The PATH is its.
 * @returns a path or, on other systems, the name. A path that leads nowhere if Windows has no such program.
 */
export function programPath(
  name: string,
  environment: NodeJS.ProcessEnv = environmentWithoutKey(),
  platform: NodeJS.Platform = process.platform,
  isFile: (path: string) => boolean = isFileHere,
): string {
  if (platform !== 'win32' || /[\\/:]/.test(name)) return name;
  const value = (wanted: string): string | undefined =>
    Object.entries(environment).find(([variable]) => variable.toUpperCase() === wanted)?.[1];
  const system = win32.join(value('SYSTEMROOT') ?? String.raw`C:\Windows`, 'System32');
  const onPath = (value('PATH') ?? '')
    .split(win32.delimiter)
    .map((directory) => directory.replaceAll('"', ''))
    // A relative entry means another directory each time.
    .filter((directory) => /^(?:[a-z]:)?[\\/]/i.test(directory));
  const names = [...(win32.extname(name) === '' ? [] : [name]), ...endings.map((ending) => name + ending)];
  const found = [system, ...onPath]
    .flatMap((directory) => names.map((each) => win32.join(directory, each)))
    .find(isFile);
  return found ?? win32.join(system, `${name}.exe`);
}

const isFileHere = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/**
 * Names the lines of the sources in stacks of the built program. The maps are read as a stack is logged: Node's own support would
 * read all of them at every start.
 */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const literally = (text: string): string => text.replaceAll(/[^\w\s]/g, String.raw`\$&`);

/** @param directory With the program's files and their maps, and a separator at its end. */
export function sourceLines(
  directory = fileURLToPath(new URL('.', import.meta.url)),
): (stack: string) => string {
  const prefix = `${literally(pathToFileURL(directory).href)}|${literally(directory)}`;
  // The rest is the name of one file, which no text of an error can turn into a path.
  const frame = new RegExp(String.raw`(?:${prefix})([\w-]+\.js):(\d+):(\d+)`, 'g');
  const maps = new Map<string, SourceMap | undefined>();
  return (stack) =>
    stack.replace(frame, (said, name: string, line: string, column: string) => {
      if (!maps.has(name)) maps.set(name, readMap(join(directory, `${name}.map`)));
      const entry = maps.get(name)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !('originalSource' in entry)) return said;
      const { originalSource, originalLine, originalColumn } = entry;
      const source = originalSource.replace(/^(\.\.\/)+/, '');
      return `${source}:${String(originalLine + 1)}:${String(originalColumn + 1)}`;
    });
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
  } catch {
    // Run from its sources, it has none.
    return undefined;
  }
}

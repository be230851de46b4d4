/** better-sqlite3 takes the process down, without a word, on a runtime that it does not know. */
const oldest = { electron: 45, node: 24 };

/** @returns what is wrong with the runtime, for a person to read; undefined where nothing is. */
export function unsupportedRuntime(
  versions: Readonly<Record<string, string | undefined>>,
): string | undefined {
  for (const [name, major] of Object.entries(oldest)) {
    const version = versions[name] ?? 'none';
    if (!(Number.parseInt(version, 10) >= major)) {
      return `Keyhearth needs ${name} ${String(major)} or later; this is ${name} ${version}.`;
    }
  }
  return undefined;
}

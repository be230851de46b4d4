/** JSON of the file's rows. The file may have rows of another version, or of another program: a text may be no JSON. */

export type StoredObject = Readonly<Record<string, unknown>>;

export const isStoredObject = (value: unknown): value is StoredObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns undefined for a text that cannot be read. */
export function storedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** @returns undefined for a text that cannot be read as an object. */
export function storedObject(text: string): StoredObject | undefined {
  const value = storedJson(text);
  return isStoredObject(value) ? value : undefined;
}

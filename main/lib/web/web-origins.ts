/**
 * Reads the origins that may use an organization's passkeys, as FEATURE_NAME_WEBAUTHN_ORIGINS holds them.
 * @param text One origin, several with commas between, or a JSON list of them.
 * @returns the origins as written; undefined if one of them is not an origin as browsers write it.
 */
export function readWebOrigins(text: string): readonly string[] | undefined {
  const list = text.trimStart().startsWith('[') ? readJson(text) : text.split(',').map((part) => part.trim());
  const origins = Array.isArray(list) ? list.filter(isWebOrigin) : [];
  return Array.isArray(list) && list.length > 0 && origins.length === list.length ? origins : undefined;
}

const isWebOrigin = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:/.test(value) && URL.parse(value)?.origin === value;

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

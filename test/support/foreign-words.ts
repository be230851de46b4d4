/**
 * Words of SQLite, of the system, of JavaScript and of libraries, which no refusal shows to a person: they may quote a
 * secret, and say nothing to who reads them. Every test that looks at an error of the API or of a command looks for them.
 */
const foreign: readonly RegExp[] = [
  // JavaScript
  /\b(?:Type|Range|Syntax|Reference|Aggregate)Error: /,
  /Unexpected (?:token|end of (?:JSON )?input|non-whitespace|number|string)|is not valid JSON|in JSON at position/,
  /Cannot (?:convert|mix|read properties|destructure|set properties|access)\b/,
  /is not (?:a function|iterable|a constructor)\b|undefined is not|Maximum call stack|Invalid (?:array|string) length/,
  /Invalid (?:time value|URL)$|The number .* cannot be converted|out of range\. It must be/,
  // the system and Node
  /\bE[A-Z]{3,}: [a-z]|, (?:open|stat|read|scandir|mkdir|unlink|rename) '|no such file or directory, /,
  /\bERR_[A-Z]|\bUND_ERR|\bconnect ECONN|getaddrinfo |fetch failed|other side closed|unexpected redirect|socket hang up/,
  /Unsupported state or unable to authenticate|bad decrypt|DECODER routines|wrong tag|Invalid (?:key|IV|initialization)/,
  /operation-specific reason|incorrect header check|unexpected end of file/,
  // SQLite
  /\bSQLITE_|database disk image is malformed|file is not a database|unable to open database|disk I\/O error/,
  /database is locked|(?:UNIQUE|CHECK|FOREIGN KEY|NOT NULL) constraint|no such (?:table|column)/,
  // zod
  /Invalid input: expected|Too (?:small|big): expected|Invalid option: expected|must match pattern/,
  // noble, scure, btc-signer
  /Reader\(|Uint8Array (?:expected|of valid)|expected Uint8Array|expected valid|bad point|[Pp]oint is not on curve/,
  /invalid (?:field element|private key, expected|scalar)|Unknown letter|radix|Invalid checksum in|invalid checksum/,
  /Unknown mnemonic|Invalid mnemonic|Invalid entropy|hex (?:invalid|string expected)|padded hex/,
];

/** @returns the first such words in a text; undefined where there are none. */
export const foreignWords = (text: string): string | undefined =>
  foreign.map((words) => words.exec(text)?.[0]).find((found) => found !== undefined);

/** @throws Error naming the words. */
export function refuseForeignWords(where: string, text: string): void {
  const words = foreignWords(text);
  if (words !== undefined)
    throw new Error(`${where} shows ${JSON.stringify(words)}, which is not ours: ${text}`);
}

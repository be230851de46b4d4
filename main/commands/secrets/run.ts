/** `keyhearth run`: runs a command with secrets of the vault in its environment, and nowhere else. */
import { isUtf8 } from 'node:buffer';
import { debuglog } from 'node:util';
import { environmentWithoutKey, type Config } from '../../app/config.ts';
import { quoted } from '../../lib/errors.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { VaultApi } from '../shared/api.ts';
import { CommandError, exitCodes, note } from '../shared/output.ts';
import { endLike, runToItsEnd } from '../vault/run-command.ts';
import { readEnvFile, type Variable } from './env-file.ts';
import { fewestBytes, maskingStream, needlesOf, type MaskedSecret } from './mask.ts';
import { secretListing, takeSecrets } from './secrets.ts';

export interface RunOptions {
  readonly env: string;
  /** False where the command writes to the terminal itself. */
  readonly mask: boolean;
  readonly apiKey: string;
}

const scheme = 'keyhearth://';

export async function run(
  config: Config,
  [program = '', ...operands]: readonly string[],
  { env: file, mask, apiKey }: RunOptions,
): Promise<void> {
  const variables = readEnvFile(file);
  const references = variables.filter(({ value }) => value.includes(scheme));
  for (const reference of references) checkWhole(file, reference);
  const secrets = await readSecrets(config, apiKey, file, references);
  const environment = environmentWithoutKey({
    ...Object.fromEntries(variables.map(({ name, value }) => [name, value])),
    ...Object.fromEntries(secrets.map(({ variable, value }) => [variable.name, textOf(variable, value)])),
  });
  const needles = needlesOf(secrets.map(({ name, value }) => ({ name, value })));
  for (const { value } of secrets) value.fill(0);
  const end = await runToItsEnd(
    program,
    operands,
    environment,
    mask && needles.length > 0 ? () => maskingStream(needles) : undefined,
  );
  for (const { bytes } of needles) bytes.fill(0);
  endLike(end);
}

/** @throws CommandError for a reference within a longer value: nothing says where its name ends. */
function checkWhole(file: string, { name, value, line }: Variable): void {
  if (value.startsWith(scheme) && value.length > scheme.length && !value.includes(scheme, 1)) return;
  throw new CommandError(
    exitCodes.usage,
    `invalid --env ${file}, line ${String(line)}: expected ${name} to be ${scheme}NAME and nothing else`,
  );
}

/** @throws CommandError where Node itself would print the environment of the command, and nothing would mask it. */
function checkNotPrinted(): void {
  if (!debuglog('child_process').enabled) return;
  throw new CommandError(
    exitCodes.usage,
    'NODE_DEBUG would print the secrets: leave child_process out of it',
  );
}

interface ReadSecret extends MaskedSecret {
  readonly variable: Variable;
}

/** @throws CommandError naming every reference without a secret. */
async function readSecrets(
  config: Config,
  apiKey: string,
  file: string,
  references: readonly Variable[],
): Promise<readonly ReadSecret[]> {
  if (references.length === 0) return [];
  checkNotPrinted();
  const api = await VaultApi.connect(config, apiKey);
  api.requireSigner();
  const known = await secretListing.all(api);
  const wanted = references.map((variable) => {
    const name = variable.value.slice(scheme.length);
    // A user who may store secrets may name one as the ID of another.
    const secret =
      known.find(({ secretId }) => secretId === name) ?? known.find((each) => each.name === name);
    return { variable, name, secret };
  });
  const missing = wanted.filter(({ secret }) => secret === undefined);
  if (missing.length > 0) {
    const names = [...new Set(missing.map(({ name }) => quoted(name)))].join(', ');
    throw new CommandError(
      exitCodes.failed,
      `--env ${file} names secrets that the vault does not have: ${names}. \`keyhearth secret list\` names those that it has`,
    );
  }
  // Two variables may have the same secret, which leaves the vault once.
  const secretIds = [...new Set(wanted.flatMap(({ secret }) => secret?.secretId ?? []))];
  const values = await takeSecrets(api, secretIds);
  const secrets = wanted.map(({ variable, name, secret }) => ({
    variable,
    name,
    value: Uint8Array.from(values[secretIds.indexOf(secret?.secretId ?? '')] ?? []),
  }));
  for (const value of values) value.fill(0);
  for (const { name, value } of secrets) {
    if (value.length >= fewestBytes) continue;
    note(`keyhearth: ${visibleName(name)} has fewer than ${String(fewestBytes)} bytes, and is not masked.`);
  }
  return secrets;
}

/** @throws CommandError for a value that no environment can hold. */
function textOf({ name }: Variable, value: Uint8Array): string {
  const problem = value.includes(0) ? 'it has a NUL' : isUtf8(value) ? undefined : 'it is not UTF-8';
  if (problem === undefined) return Buffer.from(value).toString('utf8');
  throw new CommandError(
    exitCodes.failed,
    `the secret of ${name} cannot be a variable of the environment: ${problem}. \`keyhearth secret get\` writes it to a file or a pipe`,
  );
}

/**
 * Hands a secret of the running vault out: encrypted to a key made for it, verified and opened here, into a file or the
 * output.
 */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { toHex } from '../../crypto/encodings.ts';
import { openWithPrivateKey } from '../../crypto/hpke.ts';
import { generateP256, uncompressP256 } from '../../crypto/keys/p256.ts';
import type { ApiOptions } from '../shared/options.ts';
import { bytesOf, hex, publicKeyHex, type VaultApi } from '../shared/api.ts';
import { writeFileOnce } from '../shared/new-files.ts';
import { visibleName } from '../../lib/text/visible-text.ts';
import { CommandError, exitCodes, note, print } from '../shared/output.ts';
import { askToGoOn } from '../shared/prompts.ts';
import { canAsk } from '../shared/secrets.ts';

/** The destination of a secret. */
export interface ExportOptions extends ApiOptions {
  readonly output?: string;
  /** Show it on a terminal without a prompt. */
  readonly yes?: boolean;
}

export interface Item {
  /** For a person: what will be shown or was written. */
  readonly what: string;
  /** For a script, beside the secret. */
  readonly about: object;
  readonly submit: (targetPublicKey: string) => Promise<{ readonly exportBundle: string }>;
  /** The secret's text; the taker wipes it. */
  readonly write: (secret: Uint8Array) => Uint8Array;
  /** An end of line follows the text everywhere, or on a terminal alone. */
  readonly ends: 'with a line end' | 'to the letter';
  /** The same as fields of JSON. */
  readonly show: (text: Uint8Array) => object;
  /** @returns what a person should know of this text. */
  readonly remark?: (text: Uint8Array) => string | undefined;
}

/** Decides where the secret goes before it is asked for: an export leaves its mark on what was exported. */
export async function handOut(api: VaultApi, options: ExportOptions, item: Item): Promise<void> {
  const { output, json } = options;
  if (output !== undefined) {
    const write = (descriptor: number): Promise<void> =>
      taking(api, item, (text) => {
        writeFileSync(descriptor, text);
        if (item.ends === 'with a line end') writeFileSync(descriptor, lineEnd);
        remarkOn(item, text);
      });
    await writeFileOnce(output, write, `--output ${output}`);
    print(json, { ...item.about, output }, `The ${item.what} is in ${output}.`);
    return;
  }
  await mayShow(options, item.what);
  await taking(api, item, async (text) => {
    if (json) {
      print(true, { ...item.about, ...item.show(text) }, '');
      return;
    }
    if (process.stdout.isTTY) checkHarmless(item.what, text);
    await writeOut(text);
    if (item.ends === 'with a line end' || (process.stdout.isTTY && text.at(-1) !== lineEnd[0])) {
      await writeOut(lineEnd);
    }
    remarkOn(item, text);
  });
}

const lineEnd = Uint8Array.of(0x0a);

function remarkOn({ remark }: Item, text: Uint8Array): void {
  const remarked = remark?.(text);
  if (remarked !== undefined) note(remarked);
}

/** @throws CommandError for bytes that a terminal would obey, instead of showing them. */
function checkHarmless(what: string, text: Uint8Array): void {
  const shown = isUtf8(text) ? Buffer.from(text).toString('utf8') : '\0';
  // eslint-disable-next-line no-control-regex
  if (!/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(shown)) return;
  throw new CommandError(
    exitCodes.usage,
    `the ${what} has bytes that a terminal does not show: expected --output with a file for it, or a pipe`,
  );
}

const encrypted = z.object({ encappedPublic: publicKeyHex, ciphertext: hex });

/** Exports to a key of this run alone, and wipes the text after its use. */
async function taking(
  api: VaultApi,
  { submit, write }: Item,
  use: (text: Uint8Array) => void | Promise<void>,
): Promise<void> {
  const [secret = new Uint8Array()] = await takeAll(api, 1, async ([targetPublicKey = '']) => {
    const { exportBundle } = await submit(targetPublicKey);
    return [exportBundle];
  });
  const text = write(secret);
  secret.fill(0);
  try {
    await use(text);
  } finally {
    text.fill(0);
  }
}

/**
 * Exports secrets, each to a key of its own that no other run has, and checks that the vault signed each. A bundle does not say
 * which secret it holds: its key does, so that a server cannot give one in the place of another.
 * @returns the secrets in their order, which the taker wipes.
 */
export async function takeAll(
  api: VaultApi,
  count: number,
  submit: (targetPublicKeys: readonly string[]) => Promise<readonly string[]>,
): Promise<readonly Uint8Array[]> {
  const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));
  const targets = Array.from({ length: count }, () => generateP256(random));
  const secrets: Uint8Array[] = [];
  try {
    const bundles = await submit(targets.map(({ publicKey }) => toHex(uncompressP256(publicKey))));
    if (bundles.length !== count) {
      throw new CommandError(
        exitCodes.failed,
        `what answers at ${api.url} is not a vault: expected secrets: ${String(count)}, got ${String(bundles.length)}`,
      );
    }
    for (const [index, { privateKey }] of targets.entries()) {
      const { encappedPublic, ciphertext } = api.readSigned(bundles[index] ?? '', encrypted);
      const sealed = { encapsulatedKey: bytesOf(encappedPublic), ciphertext: bytesOf(ciphertext) };
      secrets.push(await openWithPrivateKey(privateKey, sealed));
    }
    return secrets;
  } catch (error) {
    for (const secret of secrets) secret.fill(0);
    throw error;
  } finally {
    for (const { privateKey } of targets) privateKey.fill(0);
  }
}

/** A terminal keeps what it shows, and others may see it. @throws CommandError when it must not be shown. */
async function mayShow({ yes }: ExportOptions, what: string): Promise<void> {
  if (!process.stdout.isTTY || yes === true) return;
  if (!canAsk()) {
    throw new CommandError(
      exitCodes.usage,
      `this would show the ${what} on the terminal: expected --yes, or --output with a file for it`,
    );
  }
  await askToGoOn(
    { message: visibleName(`Show the ${what} on this terminal?`), initialValue: false },
    'nothing was exported',
  );
}

/** @returns once the bytes are out, and may be wiped. */
function writeOut(text: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Reads a private key out of a file that OpenSSH can use. It runs in the command and in the window. */
import { base64 } from '@scure/base';
import { damaged, refuse, UnreadableKey } from './byte-reader.ts';
import type { KeyPair } from './key-pair.ts';
import { readOpenSshKey, saveAgain, unsupported } from './openssh-format.ts';
import { readEncryptedPkcs8, readEncryptedSec1, readPkcs8, readSec1 } from './pem-format.ts';

/** Bytes; a file of the longest RSA key has 13,000. */
export const longestKeyFile = 16 * 1024;

export type KeyFileReading =
  | { readonly ok: true; readonly key: KeyPair }
  | { readonly ok: false; readonly kind: UnreadableKey['kind']; readonly problem: string };

/**
 * @param bytes The file, which stays as it is: the caller erases it.
 * @param passphrase UTF-8; the caller erases it.
 * @returns the key, or a sentence that says what is wrong and what to do. No sentence quotes the file.
 */
export function readSshKeyFile(bytes: Uint8Array, passphrase?: Uint8Array): KeyFileReading {
  try {
    return { ok: true, key: readFile(bytes, passphrase) };
  } catch (error) {
    if (error instanceof UnreadableKey) return { ok: false, kind: error.kind, problem: error.message };
    throw error;
  }
}

interface Block {
  readonly label: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Erased after use. */
  readonly content: Uint8Array;
}

const noKey = 'The file holds no SSH private key.';

function readFile(bytes: Uint8Array, passphrase: Uint8Array | undefined): KeyPair {
  if (bytes.length > longestKeyFile) refuse(`${noKey} Choose a file of at most 16 KiB.`);
  // One character for each byte: bytes beyond ASCII are refused below.
  const text = new TextDecoder('latin1').decode(bytes).replaceAll('\r\n', '\n').trim();
  if (/^(ssh-|ecdsa-|sk-)\S+ /.test(text)) {
    refuse(
      /^\S+-cert-/.test(text)
        ? 'This is an SSH certificate. Choose the file of the private key itself.'
        : 'This is a public key. Choose the file of the same name without .pub.',
    );
  }
  if (text.startsWith('PuTTY-User-Key-File-')) {
    refuse('This is a key of PuTTY. Export the key as an OpenSSH key in PuTTYgen first.');
  }
  const block = onlyBlock(text);
  try {
    return readBlock(block, passphrase);
  } finally {
    block.content.fill(0);
  }
}

function readBlock({ label, headers, content }: Block, passphrase: Uint8Array | undefined): KeyPair {
  const encryption = headers.get('DEK-Info');
  switch (label) {
    case 'OPENSSH PRIVATE KEY':
      return readOpenSshKey(content, passphrase);
    case 'PRIVATE KEY':
      return readPkcs8(content);
    case 'ENCRYPTED PRIVATE KEY':
      return readEncryptedPkcs8(content, passphrase);
    case 'EC PRIVATE KEY':
      return encryption === undefined
        ? readSec1(content)
        : readEncryptedSec1(content, encryption, passphrase);
    case 'RSA PRIVATE KEY':
      return refuse(unsupported('an RSA key'));
    case 'DSA PRIVATE KEY':
      return refuse(unsupported('a DSA key'));
    case 'SSH2 ENCRYPTED PRIVATE KEY':
      return refuse(`The file is in a format of another program. ${saveAgain}`);
    default:
      return refuse(/PUBLIC KEY|CERTIFICATE/.test(label) ? 'The file holds no private key.' : noKey);
  }
}

/** @throws UnreadableKey where there are several blocks, or anything beside them. */
function onlyBlock(text: string): Block {
  const blocks: Block[] = [];
  const rest = text.replaceAll(
    /-----BEGIN ([A-Z0-9 ]+)-----\n([^-]*|(?:[A-Za-z-]+: [^\n]*\n)+\n[^-]*)-----END \1-----(\n|$)/g,
    (_, label: string, body: string) => {
      // OpenSSL writes the name of the curve before the key.
      if (label !== 'EC PARAMETERS') blocks.push(blockOf(label, body));
      return '';
    },
  );
  const [block, ...others] = blocks;
  for (const other of others) other.content.fill(0);
  if (others.length > 0) {
    refuse(`The file holds ${String(blocks.length)} keys. Split the file: expected one key.`);
  }
  if (block === undefined) return refuse(text.includes('-----BEGIN ') ? damaged : noKey);
  if (rest.trim() !== '') refuse(damaged);
  return block;
}

function blockOf(label: string, body: string): Block {
  const [, head, digits = body] = /^((?:[A-Za-z-]+: [^\n]*\n)+)\n([^]*)$/.exec(body) ?? [];
  const headers = new Map(
    (head ?? '').split('\n').flatMap((line) => {
      const at = line.indexOf(': ');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 2)] as const];
    }),
  );
  try {
    return { label, headers, content: base64.decode(digits.replaceAll(/\s/g, '')) };
  } catch {
    return refuse(damaged);
  }
}

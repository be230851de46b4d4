#!/usr/bin/env node
// Opens a Keyhearth backup without Keyhearth: plain JavaScript for Node 24.7 or newer, with nothing installed.
// The format is described in BACKUP-FORMAT.md beside it, which is docs/reference/backup-format.md in the project.
//
//   node decrypt-backup.mjs BACKUP OUTPUT --phrase-file FILE    (or --password-file FILE)
//
// writes the vault's database, an SQLite file whose keys and mnemonics are still sealed, and with --secrets a JSON file with
// those keys and mnemonics in clear. OUTPUT must not exist; only its owner can read it.
import { Buffer } from 'node:buffer';
import { argon2Sync, createDecipheriv, hash, hkdfSync } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  fstatSync,
  writeSync,
} from 'node:fs';
import process from 'node:process';
import { URL } from 'node:url';
import { parseArgs } from 'node:util';

const tagLength = 16;
const nonceLength = 12;
const wrappedLength = nonceLength + 32 + tagLength;

class Refusal extends Error {}

function main(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      'phrase-file': { type: 'string' },
      'password-file': { type: 'string' },
      secrets: { type: 'boolean' },
    },
  });
  const [backup, output] = positionals;
  const { 'phrase-file': phraseFile, 'password-file': passwordFile, secrets = false } = values;
  if (positionals.length !== 2 || (phraseFile === undefined) === (passwordFile === undefined)) {
    throw new Refusal(
      'usage: node decrypt-backup.mjs BACKUP OUTPUT (--phrase-file FILE | --password-file FILE) [--secrets]',
    );
  }
  if (existsSync(output)) throw new Refusal(`${output} exists already: it is not overwritten`);
  const source = openSync(backup, 'r');
  try {
    const head = readHead(source);
    const masterKey =
      phraseFile === undefined
        ? openSlots(head.header, 'password', (slot) => passwordKey(readFileSync(passwordFile, 'utf8'), slot))
        : openSlots(head.header, 'recovery', (slot) => phraseKey(readFileSync(phraseFile, 'utf8'), slot));
    const database = decrypt(source, head, masterKey);
    return { output, secrets, masterKey, database };
  } finally {
    closeSync(source);
  }
}

/** The second is that of backups from before Keyhearth had its name. */
const names = ['keyhearth-backup', 'latchkey-backup'];

/** The two lines at the start: a title with the checksum of the second, and the header. */
function readHead(source) {
  const beginning = Buffer.alloc(Math.min(fstatSync(source).size, 256 * 1024));
  readSync(source, beginning, 0, beginning.length, 0);
  const first = beginning.indexOf(10);
  const end = beginning.indexOf(10, first + 1) + 1;
  const [name, version, checksum] = beginning.toString('latin1', 0, Math.max(first, 0)).split(' ');
  if (!names.includes(name)) throw new Refusal('this is no Keyhearth backup');
  if (version !== '1')
    throw new Refusal(`its format has version ${version}, and this program reads version 1`);
  const line = beginning.subarray(first + 1, end);
  if (end === 0 || hash('sha256', line) !== checksum) throw new Refusal('its header is damaged');
  const header = JSON.parse(line.toString('utf8'));
  if (!isHeader(header)) throw new Refusal('its header is damaged');
  return { header, length: end, binding: hash('sha256', beginning.subarray(0, end), 'buffer') };
}

const isFrom = (least, most) => (value) => Number.isSafeInteger(value) && value >= least && value <= most;
const isSize = isFrom(1, Number.MAX_SAFE_INTEGER);
const isChunkSize = isFrom(64 * 1024, 1024 * 1024);

/** The checksum has no key, so a header may be an attacker's. An empty database would have no sealed part to verify. */
const isHeader = ({ size, chunkSize, keyslots }) =>
  isSize(size) && isChunkSize(chunkSize) && Array.isArray(keyslots);

function decrypt(source, { header, length, binding }, masterKey) {
  const envelope = derive(masterKey, header.keySalt, 'latchkey backup v1');
  const key = derive(envelope, header.fileSalt, 'latchkey backup v1 file');
  const chunks = Math.ceil(header.size / header.chunkSize);
  const expected = length + header.size + chunks * tagLength;
  const found = fstatSync(source).size;
  if (found !== expected) throw new Refusal(`it has ${found} bytes, and should have ${expected}`);
  const plain = [];
  for (let index = 0, position = length; index < chunks; index++) {
    const last = index === chunks - 1;
    const sealed = Buffer.alloc(
      (last ? header.size - index * header.chunkSize : header.chunkSize) + tagLength,
    );
    readSync(source, sealed, 0, sealed.length, position);
    position += sealed.length;
    const nonce = Buffer.alloc(nonceLength);
    nonce.writeUInt32BE(index, 7);
    nonce[11] = last ? 1 : 0;
    const opened = openGcm(key, nonce, sealed, binding);
    if (opened === undefined) throw new Refusal(`part ${index + 1} of ${chunks} is damaged`);
    plain.push(opened);
  }
  return Buffer.concat(plain);
}

/** Opens the master key: nonce, ciphertext and tag under the key that a secret gives, bound to the slot. */
function openSlots({ vaultId, keyslots }, kind, keyOf) {
  const slots = keyslots.filter((slot) => slot.kind === kind);
  if (slots.length === 0) {
    const kinds = [...new Set(keyslots.map((slot) => slot.kind))].join(', ');
    throw new Refusal(`it has no slot of the kind ${kind}; it has: ${kinds}`);
  }
  if (kind === 'password') checkWork(slots);
  for (const slot of slots) {
    const wrapped = Buffer.from(slot.wrapped, 'hex');
    const bound = JSON.stringify(['latchkey keyslot', 1, vaultId, slot.id, slot.kind, slot.parameters]);
    const masterKey = openSealed(keyOf(JSON.parse(slot.parameters)), wrapped, bound);
    if (masterKey !== undefined) return masterKey;
  }
  throw new Refusal('what was given does not open it');
}

/** BIP-39: 24 words of 11 bits are 256 bits and a checksum of 8. */
function phraseKey(text, { salt }) {
  const list = readFileSync(new URL('./bip39-english.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const words = text.normalize('NFKD').toLowerCase().trim().split(/\s+/);
  if (words.length !== 24) throw new Refusal(`the phrase has ${words.length} words, and should have 24`);
  const bits = words
    .map((word, at) => {
      const index = list.indexOf(word);
      if (index === -1)
        throw new Refusal(`word ${at + 1} of the phrase is not in the English list of BIP-39`);
      return index.toString(2).padStart(11, '0');
    })
    .join('');
  const bytes = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const entropy = bytes.subarray(0, 32);
  if (hash('sha256', entropy, 'buffer')[0] !== bytes[32]) throw new Refusal('a word of the phrase is wrong');
  return derive(entropy, salt, 'latchkey recovery phrase');
}

/** The bounds that Keyhearth has: an attacker's file could ask for any memory and time, in one slot or in many. */
const most = { memoryKiB: 1024 * 1024, passes: 16, parallelism: 16, work: 64 * 1024 * 1024 };

function checkWork(slots) {
  const asked = slots.map(({ parameters }) => JSON.parse(parameters));
  // A cost below 0 would pay for that of the other slots.
  const fits = asked.every((cost) =>
    ['memoryKiB', 'passes', 'parallelism'].every((name) => isFrom(1, most[name])(cost[name])),
  );
  const work = asked.reduce((sum, { memoryKiB, passes }) => sum + memoryKiB * passes, 0);
  if (!fits || work > most.work)
    throw new Refusal('its password slots ask for more work than those of any vault');
}

function passwordKey(text, { salt, memoryKiB, passes, parallelism }) {
  const [password] = text.split(/\r?\n/, 1);
  return argon2Sync('argon2id', {
    message: Buffer.from(password.normalize('NFKC')),
    nonce: Buffer.from(salt, 'hex'),
    memory: memoryKiB,
    passes,
    parallelism,
    tagLength: 32,
  });
}

const derive = (key, salt, info) => Buffer.from(hkdfSync('sha256', key, Buffer.from(salt, 'hex'), info, 32));

const openSealed = (key, sealed, bound) =>
  openGcm(key, sealed.subarray(0, nonceLength), sealed.subarray(nonceLength), Buffer.from(bound));

/** @returns undefined where the bytes are not the ones that were sealed. */
function openGcm(key, nonce, sealed, bound) {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength });
  decipher.setAAD(bound);
  decipher.setAuthTag(sealed.subarray(-tagLength));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -tagLength)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** A sealed record: version, data key under the master key, secret under the data key; both bound to their row. */
function openRecord(masterKey, table, { id, organization_id: organizationId, sealed }) {
  const bound = (part) => JSON.stringify(['latchkey sealed record', 1, part, table, id, organizationId]);
  const record = Buffer.from(sealed);
  const dataKey = openSealed(masterKey, record.subarray(1, 1 + wrappedLength), bound('data-key'));
  const secret = dataKey && openSealed(dataKey, record.subarray(1 + wrappedLength), bound('secret'));
  if (record[0] !== 1 || secret === undefined)
    throw new Refusal(`the record ${id} of ${table} does not open`);
  return secret;
}

async function readSecrets(file, masterKey) {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = (table) => database.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all();
    const accounts = rows('wallet_accounts');
    return {
      wallets: rows('wallets').map((wallet) => {
        const [mnemonic, ...passphrase] = openRecord(masterKey, 'wallets', wallet)
          .toString('utf8')
          .split('\n');
        return {
          id: wallet.id,
          name: wallet.name,
          mnemonic,
          passphrase: passphrase.join('\n'),
          accounts: accounts
            .filter((account) => account.wallet_id === wallet.id)
            .map(({ curve, path, address_format: addressFormat, address }) => ({
              curve,
              path,
              addressFormat,
              address,
            })),
        };
      }),
      privateKeys: rows('private_keys').map((key) => ({
        id: key.id,
        name: key.name,
        curve: key.curve,
        publicKey: key.public_key,
        privateKey: openRecord(masterKey, 'private_keys', key).toString('hex'),
      })),
    };
  } finally {
    database.close();
  }
}

function writeNew(file, bytes) {
  const target = openSync(file, 'wx', 0o600);
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(target, bytes, done);
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
}

/** A text of the file makes no line of its own, and moves or hides none on a terminal. */
const visible = (text) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `⟨U+${character.codePointAt(0).toString(16)}⟩`);

try {
  const { output, secrets, masterKey, database } = main(process.argv.slice(2));
  writeNew(output, database);
  process.stderr.write(`${output}: the database of the vault (SQLite)\n`);
  if (secrets) {
    const file = `${output}.secrets.json`;
    writeNew(file, Buffer.from(`${JSON.stringify(await readSecrets(output, masterKey), null, 2)}\n`));
    process.stderr.write(`${file}: its mnemonics and private keys, in clear. Erase it when you are done.\n`);
  }
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`decrypt-backup: ${visible(message)}\n`);
  process.exitCode = 1;
}

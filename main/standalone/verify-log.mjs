#!/usr/bin/env node
// Verifies an exported Keyhearth activity log. It needs Node 20 or newer and nothing else, neither Keyhearth nor the vault:
//   node verify-log.mjs FILE [--public-key HEX] [--head SEQUENCE:HASH]...
// FILE is what `keyhearth audit export` wrote, or - for standard input. --public-key is the vault's notary key, as it was
// noted before: without it the log is checked against the key that it names itself. --head is a head that was noted.
// Exit codes: 0 for a valid log, 1 for an invalid one, 2 for wrong arguments. The format is docs/reference/log-format.md in the project.
import { Buffer } from 'node:buffer';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';

const hashed =
  'sequence id revision organizationId type status fingerprint timestampMs intent result failure votes createdAt updatedAt';
const headFields = 'sequence hash signedAt publicKey signature';
const fieldsOf = {
  log: 'kind format version vaultId organizationId publicKey rows head',
  activity: `kind ${hashed} previousHash hash`,
  head: `kind ${headFields}`,
};
const numbers = 'version sequence revision timestampMs createdAt updatedAt signedAt rows'.split(' ');
const nullable = ['result', 'failure', 'head'];
const problems = [];
/** Expected hashes of rows by their sequence: from heads in the log, and from the command line. */
const known = new Map();
let log;
let key;
let last = { sequence: 0, hash: '00'.repeat(32) };
let signed = 'No entry is signed.';
let isSigned = false;

/** The second is that of logs which were exported before Keyhearth had its name. */
const formats = ['keyhearth activity log', 'latchkey activity log'];

function begin(line, given) {
  if (line?.kind !== 'log' || !formats.includes(line.format) || line.version !== 1)
    throw new Error('this is no exported log: its first line is not one of format version 1');
  log = line;
  if (given !== undefined && given !== log.publicKey)
    problems.push(`the log is signed by the key ${log.publicKey}, not by the one given`);
  // RFC 5480: what stands before an uncompressed P-256 point in SubjectPublicKeyInfo.
  const der = `3059301306072a8648ce3d020106082a8648ce3d030107034200${given ?? log.publicKey}`;
  key = createPublicKey({ key: Buffer.from(der, 'hex'), format: 'der', type: 'spki' });
  if (log.head !== null) checkHead(log.head, headFields);
}

function checkRow(row) {
  const { sequence, previousHash } = row;
  const next = last.sequence + 1;
  if (!(sequence >= next)) {
    problems.push(`entry ${sequence} stands after entry ${last.sequence}: it was moved or inserted`);
    return;
  }
  if (sequence > next) problems.push(`entries ${next} to ${sequence - 1} are missing`);
  const fields = JSON.stringify(hashed.split(' ').map((name) => row[name]));
  const hash = createHash('sha256').update(Buffer.from(previousHash, 'hex')).update(fields).digest('hex');
  if (hash !== row.hash) problems.push(`entry ${sequence} was changed after it was written`);
  else if (sequence === next && previousHash !== last.hash)
    problems.push(`entry ${sequence} does not follow the entry before it`);
  last = row;
  compare();
}

function checkHead(head, fields) {
  const { sequence, hash, signedAt, publicKey, signature } = head;
  const fieldsSigned = ['latchkey log head', 1, log.vaultId, log.organizationId, sequence, hash, signedAt];
  const message = Buffer.from(JSON.stringify(fieldsSigned));
  const isWhole = Object.keys(head).join(' ') === fields && publicKey === log.publicKey;
  const isHex = /^[0-9a-f]+$/.test(signature);
  if (!isWhole || !isHex || !verify('sha256', message, key, Buffer.from(signature, 'hex')))
    problems.push(`the head of entry ${sequence} is not signed by the vault's key`);
  else if (sequence < last.sequence)
    problems.push(`the head of entry ${sequence} stands after entry ${last.sequence}: it was moved`);
  else expect(sequence, hash, `the vault signed on ${new Date(signedAt).toISOString()}`, true);
}

function expect(sequence, hash, by, bySignature = false) {
  known.set(sequence, [...(known.get(sequence) ?? []), { sequence, hash, by, bySignature }]);
  if (sequence === last.sequence) compare();
}

/** Holds the row that came last against what is known of it. */
function compare() {
  for (const { sequence, hash, by, bySignature } of known.get(last.sequence) ?? []) {
    if (hash === last.hash) {
      signed = `Entry ${sequence} is the one that ${by}.`;
      isSigned ||= bySignature;
    } else problems.push(`entry ${sequence} is not the one that ${by}: it, or one before it, was changed`);
  }
  known.delete(last.sequence);
}

/** Lines end with a line feed alone: other separators may stand inside a JSON string. */
async function* linesOf(stream) {
  // Only what is new is searched: a line may be as long as a file.
  let begun = [];
  for await (const chunk of stream.setEncoding('utf8')) {
    const [end, ...lines] = chunk.split('\n');
    begun.push(end);
    if (lines.length === 0) continue;
    yield begun.join('');
    begun = [lines.pop()];
    yield* lines;
  }
  const rest = begun.join('');
  if (rest !== '') yield rest;
}

/** Rows and heads are found by number. A text in the place of one passes comparisons with it, and is not found. */
const isTyped = (line) =>
  Object.entries(line).every(([name, value]) => {
    if (numbers.includes(name)) return Number.isSafeInteger(value);
    if (value === null) return nullable.includes(name);
    return name === 'head' ? isTyped(value) : typeof value === 'string';
  });

/** @returns undefined for a line that is not written to the letter as Keyhearth writes it. */
function read(text) {
  try {
    const line = JSON.parse(text);
    const isExact =
      Object.keys(line).join(' ') === fieldsOf[line.kind] && JSON.stringify(line) === text && isTyped(line);
    return isExact ? line : undefined;
  } catch {
    return undefined;
  }
}

/** A text of the log makes no line of its own, and moves or hides none on a terminal. */
const visible = (text) =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `⟨U+${character.codePointAt(0).toString(16)}⟩`);

async function verifyLog(file, given) {
  let number = 0;
  for await (const text of linesOf(file === '-' ? process.stdin : createReadStream(file))) {
    number += 1;
    const line = read(text);
    if (log === undefined) begin(line, given);
    else if (line?.kind === 'activity') checkRow(line);
    else if (line?.kind === 'head') checkHead(line, fieldsOf.head);
    else problems.push(`line ${number} ${line ? 'begins another log' : 'is not as Keyhearth writes it'}`);
  }
  if (log === undefined) begin(undefined);
  if (last.sequence !== log.rows)
    problems.push(
      `the first line says that the log has ${log.rows} entries, and the last here is ${last.sequence}`,
    );
  for (const { sequence, by } of [...known.values()].flat())
    if (sequence > last.sequence)
      problems.push(
        `the end is missing: the log ends at entry ${last.sequence}, and entry ${sequence} is one that ${by}`,
      );
  // Any program can write a log that names the key, and is not signed by it.
  if (given !== undefined && !isSigned) problems.push('no entry is signed by the key that is given');
  const verdict = problems.length > 0 ? 'This log was changed or is incomplete.' : 'The log is intact.';
  const about = `${log.rows} ${log.rows === 1 ? 'entry' : 'entries'} of vault ${log.vaultId}; key ${log.publicKey}`;
  process.stdout.write([...problems, about, signed, verdict, ''].map(visible).join('\n'));
  process.exitCode = problems.length > 0 ? 1 : 0;
}

try {
  process.exitCode = 2;
  const options = { 'public-key': { type: 'string' }, head: { type: 'string', multiple: true } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (positionals.length !== 1)
    throw new Error('usage: verify-log.mjs FILE|- [--public-key HEX] [--head SEQUENCE:HASH]...');
  const given = values['public-key'];
  if (given !== undefined && !/^04[0-9a-f]{128}$/.test(given))
    throw new Error(`--public-key ${given}: expected 130 lowercase hex digits that begin with 04`);
  for (const text of values.head ?? []) {
    const [, sequence, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
    if (hash === undefined)
      throw new Error(`--head ${text}: expected SEQUENCE:HASH, 64 lowercase hex digits`);
    expect(Number(sequence), hash, 'you noted');
  }
  process.exitCode = 1;
  await verifyLog(positionals[0], given);
} catch (error) {
  process.stderr.write(`verify-log: ${error.message}\n`);
}

#!/usr/bin/env node
// Verifies an exported Latchkey activity log. It needs Node 20 or newer and nothing else, neither Latchkey nor its vault:
//   node verify-log.mjs FILE [--public-key HEX] [--head SEQUENCE:HASH]...
// FILE is what `latchkey audit export` wrote, or - for standard input. --public-key is the vault's notary key as it was
// noted before: without it the log is checked against the key that it names itself. --head is a head that was noted.
// Ends with 0 when all holds, 1 when something does not, 2 when it was called wrongly. The format is in ARCHITECTURE.md.
import { Buffer } from 'node:buffer';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';

const hashed = [
  ...['sequence', 'id', 'revision', 'organizationId', 'type', 'status', 'fingerprint', 'timestampMs'],
  ...['intent', 'result', 'failure', 'votes', 'createdAt', 'updatedAt'],
];
const headFields = ['sequence', 'hash', 'signedAt', 'publicKey', 'signature'];
const lineFields = {
  log: ['format', 'version', 'vaultId', 'organizationId', 'publicKey', 'rows', 'head'],
  activity: [...hashed, 'previousHash', 'hash'],
  head: headFields,
};
/** What stands around an uncompressed P-256 point in SubjectPublicKeyInfo (RFC 5480). */
const spki = '3059301306072a8648ce3d020106082a8648ce3d030107034200';

const problems = [];
const known = new Map();
let log;
let key;
let last = { sequence: 0, hash: '00'.repeat(32) };
let signed;
let isCalledRightly = false;

function fail(problem) {
  problems.push(problem);
}

/** Whether a line has these fields, in this order, and is written as JSON.stringify writes it. */
function isExact(value, text) {
  const fields = ['kind', ...(Object.hasOwn(lineFields, value?.kind) ? lineFields[value.kind] : [])];
  return Object.keys(value ?? {}).join() === fields.join() && JSON.stringify(value) === text;
}

function start(line, number, given) {
  if (line.kind !== 'log' || line.format !== 'latchkey activity log' || line.version !== 1)
    throw new Error(`line ${number}: not the first line of an exported log of version 1`);
  log = line;
  if (given !== undefined && given !== log.publicKey)
    fail(`the log is signed by the key ${log.publicKey}, not by the one given`);
  const point = Buffer.from(given ?? log.publicKey, 'hex');
  key = createPublicKey({
    key: Buffer.concat([Buffer.from(spki, 'hex'), point]),
    format: 'der',
    type: 'spki',
  });
  if (log.head !== null) checkHead(log.head);
}

function checkRow(row) {
  const expected = last.sequence + 1;
  if (!(row.sequence >= expected))
    return fail(`row ${row.sequence} stands after row ${last.sequence}: it was moved or inserted`);
  if (row.sequence > expected) fail(`rows ${expected} to ${row.sequence - 1} are missing`);
  const fields = JSON.stringify(hashed.map((name) => row[name]));
  const hash = createHash('sha256').update(Buffer.from(row.previousHash, 'hex')).update(fields).digest('hex');
  if (hash !== row.hash) fail(`row ${row.sequence} was changed after it was written`);
  else if (row.sequence === expected && row.previousHash !== last.hash)
    fail(`row ${row.sequence} does not follow the row before it`);
  last = row;
  return compare();
}

function checkHead(head) {
  const { sequence, hash, signedAt, signature } = head;
  const message = JSON.stringify([
    'latchkey log head',
    1,
    log.vaultId,
    log.organizationId,
    sequence,
    hash,
    signedAt,
  ]);
  const holds =
    Object.keys(head)
      .filter((name) => name !== 'kind')
      .join() === headFields.join() &&
    head.publicKey === log.publicKey &&
    /^[0-9a-f]+$/.test(signature) &&
    verify('sha256', Buffer.from(message), key, Buffer.from(signature, 'hex'));
  if (!holds) fail(`the head of row ${sequence} is not signed by the vault's key`);
  else if (sequence < last.sequence)
    fail(`the head of row ${sequence} stands after row ${last.sequence}: it was moved`);
  else
    expect({ sequence, hash, by: `the vault signed on ${new Date(signedAt).toISOString()}`, isSigned: true });
}

function expect(head) {
  known.set(head.sequence, [...(known.get(head.sequence) ?? []), head]);
  if (head.sequence === last.sequence) compare();
}

/** Holds the row that came last against what is known of it. */
function compare() {
  for (const { hash, by, isSigned } of known.get(last.sequence) ?? []) {
    if (hash !== last.hash)
      fail(`row ${last.sequence} is not the one that ${by}: it, or one before it, was changed`);
    else if (isSigned) signed = { sequence: last.sequence, by };
  }
  known.delete(last.sequence);
}

/** Lines end with a line feed alone: other separators may stand inside a JSON string. */
async function* linesOf(stream) {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    yield* lines;
  }
  if (rest !== '') yield rest;
}

async function main() {
  const options = { 'public-key': { type: 'string' }, head: { type: 'string', multiple: true } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0)
    throw new Error('usage: verify-log.mjs FILE|- [--public-key HEX] [--head SEQUENCE:HASH]...');
  for (const text of values.head ?? []) {
    const [, sequence, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
    if (hash === undefined)
      throw new Error(`--head ${text}: expected SEQUENCE:HASH, with 64 lowercase hex digits`);
    expect({ sequence: Number(sequence), hash, by: 'you noted', isSigned: false });
  }
  const given = values['public-key'];
  if (given !== undefined && !/^04[0-9a-f]{128}$/.test(given))
    throw new Error(`--public-key ${given}: expected 130 lowercase hex digits that begin with 04`);
  const stream = file === '-' ? process.stdin : createReadStream(file);
  let number = 0;
  await once(stream, 'readable');
  isCalledRightly = true;
  for await (const text of linesOf(stream)) {
    number += 1;
    let line;
    try {
      line = JSON.parse(text);
    } catch {
      line = undefined;
    }
    if (!isExact(line, text)) fail(`line ${number} is not as Latchkey writes it`);
    else if (log === undefined) start(line, number, given);
    else if (line.kind === 'activity') checkRow(line);
    else if (line.kind === 'head') checkHead(line);
    else fail(`line ${number} begins another log`);
  }
  if (log === undefined)
    throw new Error('this is no exported log: its first line is missing or is not as Latchkey writes it');
  if (last.sequence !== log.rows)
    fail(`the first line says that the log has ${log.rows} rows, and the last here is ${last.sequence}`);
  for (const { sequence, by } of [...known.values()].flat())
    if (sequence > last.sequence)
      fail(`the end is missing: the log ends at row ${last.sequence}, and row ${sequence} is one that ${by}`);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${log.rows} rows of vault ${log.vaultId}; key ${log.publicKey}\n`);
  process.stdout.write(
    signed === undefined ? 'No row is signed.\n' : `Row ${signed.sequence} is the one that ${signed.by}.\n`,
  );
  process.stdout.write(
    problems.length === 0
      ? 'Everything holds.\n'
      : `Problems: ${problems.length}. This log was changed, or is not whole.\n`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`verify-log: ${error.message}\n`);
  process.exitCode = isCalledRightly ? 1 : 2;
}

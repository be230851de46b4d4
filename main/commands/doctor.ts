/** `latchkey doctor`: checks the machine and the vault, a line each, and changes nothing. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { encodeAddress } from '../crypto/addresses.ts';
import { curves } from '../crypto/curves.ts';
import { derivePrivateKey } from '../crypto/derivation.ts';
import { sha256 } from '../crypto/hashes.ts';
import { seedFromMnemonic } from '../crypto/mnemonics.ts';
import { generateP256, signP256, verifyP256 } from '../crypto/p256.ts';
import { toHex } from '../crypto/encodings.ts';
import { checkSecp256k1Accelerator } from '../crypto/secp256k1.ts';
import { checkActivityChain } from '../db/activities.ts';
import { Connection } from '../db/connection.ts';
import { listKeychainLeftovers } from '../db/keychain-leftovers.ts';
import { schemaVersion } from '../db/migrations.ts';
import { keychainOf } from '../vault.ts';
import { findRunning } from './client.ts';
import { dataDirectory } from './control.ts';
import { exitCodes, print } from './output.ts';

interface Finding {
  readonly check: string;
  /** A note is worth knowing and no failure. */
  readonly outcome: 'ok' | 'note' | 'failed';
  readonly detail: string;
}

export async function doctor(config: Config, json: boolean): Promise<void> {
  const directory = dataDirectory(config);
  const findings = [
    checkCryptography(),
    await checkKeychain(config),
    ...checkFiles(directory),
    ...checkDatabase(join(directory, 'vault.db')),
    await checkService(directory),
  ];
  const failed = findings.filter(({ outcome }) => outcome === 'failed').length;
  print(
    json,
    { ok: failed === 0, findings },
    [
      ...findings.map(({ check, outcome, detail }) => `${outcome.padEnd(6)} ${check}: ${detail}`),
      failed === 0 ? 'All is well.' : `${String(failed)} failed.`,
    ].join('\n'),
  );
  if (failed > 0) process.exitCode = exitCodes.failed;
}

/** Known answers: BIP-39's all-zero mnemonic down to addresses that every wallet agrees on, and RFC 8032's first test. */
function checkCryptography(): Finding {
  const check = 'cryptography';
  try {
    checkSecp256k1Accelerator();
    const seed = seedFromMnemonic(`${'abandon '.repeat(11)}about`);
    const ethereum = curves.CURVE_SECP256K1.publicKey(
      derivePrivateKey('CURVE_SECP256K1', seed, "m/44'/60'/0'/0/0"),
    );
    expectSame(
      'Ethereum address',
      encodeAddress('ADDRESS_FORMAT_ETHEREUM', 'CURVE_SECP256K1', ethereum),
      '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
    );
    const bitcoin = curves.CURVE_SECP256K1.publicKey(
      derivePrivateKey('CURVE_SECP256K1', seed, "m/84'/0'/0'/0/0"),
    );
    expectSame(
      'Bitcoin address',
      encodeAddress('ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', 'CURVE_SECP256K1', bitcoin),
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    );
    const ed25519 = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
    expectSame(
      'Ed25519 public key',
      toHex(curves.CURVE_ED25519.publicKey(new Uint8Array(ed25519))),
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    );
    const pair = generateP256(() => sha256(new Uint8Array([1])));
    const message = new Uint8Array([1, 2, 3]);
    const signature = new Uint8Array(Buffer.from(signP256(pair.privateKey, message), 'hex'));
    if (!verifyP256(toHex(pair.publicKey), signature, message))
      throw new Error('P-256 does not verify its own signature');
    return { check, outcome: 'ok', detail: 'the known answers are right' };
  } catch (error) {
    return { check, outcome: 'failed', detail: error instanceof Error ? error.message : String(error) };
  }
}

function expectSame(what: string, got: string, expected: string): void {
  if (got !== expected) throw new Error(`${what}: got ${got}, expected ${expected}`);
}

async function checkKeychain(config: Config): Promise<Finding> {
  const probe = await keychainOf(config).probe();
  return probe.available
    ? { check: 'keychain', outcome: 'ok', detail: 'a secret can be stored, read and removed' }
    : { check: 'keychain', outcome: 'note', detail: probe.reason };
}

function checkFiles(directory: string): Finding[] {
  if (!existsSync(directory))
    return [{ check: 'files', outcome: 'note', detail: `there is no ${directory}` }];
  // Windows keeps these files to their owner through the profile's access list, which modes do not show.
  if (process.platform === 'win32') return [];
  const expected: readonly (readonly [string, number])[] = [
    ['', 0o700],
    ['vault.db', 0o600],
    ['vault.db-wal', 0o600],
    ['vault.db-shm', 0o600],
    ['endpoint.json', 0o600],
    ['lock', 0o600],
  ];
  return expected.flatMap(([name, mode]): Finding[] => {
    const file = join(directory, name);
    if (!existsSync(file)) return [];
    const found = statSync(file).mode & 0o777;
    const fine = (found & ~mode) === 0;
    return [
      {
        check: `mode of ${file}`,
        outcome: fine ? 'ok' : 'failed',
        detail: fine ? found.toString(8) : `it is ${found.toString(8)}: run chmod ${mode.toString(8)} on it`,
      },
    ];
  });
}

function checkDatabase(file: string): Finding[] {
  if (!existsSync(file)) return [{ check: 'vault', outcome: 'note', detail: 'there is no vault file yet' }];
  try {
    return examine(file);
  } catch (error) {
    // SQLite throws at what is no database, and at pages that it cannot make sense of.
    return [
      {
        check: 'database',
        outcome: 'failed',
        detail: error instanceof Error ? error.message : String(error),
      },
    ];
  }
}

function examine(file: string): Finding[] {
  const connection = Connection.openReadOnly(file);
  try {
    const found = Number(connection.pragma('user_version'));
    const integrity = String(connection.pragma('integrity_check'));
    const findings: Finding[] = [
      {
        check: 'schema',
        outcome: found === schemaVersion ? 'ok' : found < schemaVersion ? 'note' : 'failed',
        detail: `version ${String(found)}, and this Latchkey's is ${String(schemaVersion)}`,
      },
      {
        check: 'database',
        outcome: integrity === 'ok' ? 'ok' : 'failed',
        detail: `integrity check says ${integrity}`,
      },
    ];
    if (found !== schemaVersion) return findings;
    const chain = checkActivityChain(connection);
    findings.push(
      chain.ok
        ? {
            check: 'activity log',
            outcome: 'ok',
            detail: `an unbroken chain of ${String(chain.rows)} entries`,
          }
        : { check: 'activity log', outcome: 'failed', detail: chain.problem },
    );
    const leftovers = listKeychainLeftovers(connection).length;
    if (leftovers > 0) {
      findings.push({
        check: 'keychain entries',
        outcome: 'note',
        detail: `${String(leftovers)} of keyslots that are gone may be left in the keychain: the next unlocking removes them`,
      });
    }
    return findings;
  } finally {
    connection.close();
  }
}

async function checkService(directory: string): Promise<Finding> {
  const running = await findRunning(directory);
  return running
    ? { check: 'service', outcome: 'ok', detail: `it runs at ${running.url}` }
    : { check: 'service', outcome: 'note', detail: 'it is not running' };
}

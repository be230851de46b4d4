/** The window's self-test, a line for each check; it changes nothing. */
import { join } from 'node:path';
import type { LogCheck, RowFinding, SelfTestFinding, VaultStatus } from '../../preload/contract.ts';
import type { Reader } from '../storage/connection.ts';
import { describeFinding } from '../storage/integrity/refusal.ts';
import { lastLogHead } from '../storage/tables/log-heads.ts';
import type { Keychain } from '../keys/keychain/keychain.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { checkCryptography } from './cryptography.ts';
import { checkDisk } from './disk.ts';

export interface SelfTestParts {
  readonly keychain: Pick<Keychain, 'probe'>;
  /** The vault's directory; null for one in memory. */
  readonly directory: string | null;
  readonly storage: () => VaultStatus['storage'];
  readonly checkRows: () => readonly RowFinding[];
  readonly checkLog: () => Promise<LogCheck>;
  /** Reads the vault's file. */
  readonly readUnverified: <T>(read: (tx: Reader) => T) => T;
  readonly now: () => number;
}

export async function selfTest(parts: SelfTestParts): Promise<readonly SelfTestFinding[]> {
  const checks: readonly [name: string, run: () => Promise<CheckResult> | CheckResult][] = [
    ['rows', () => rows(parts)],
    ['log', () => log(parts)],
    ['keychain', () => keychain(parts)],
    ['disk', () => disk(parts)],
    ['clock', () => clock(parts)],
  ];
  const { check, outcome, detail } = checkCryptography();
  const findings: SelfTestFinding[] = [{ check, outcome, detail }];
  for (const [name, run] of checks) {
    try {
      findings.push({ check: name, ...(await run()) });
    } catch (error) {
      findings.push({ check: name, outcome: 'failed', detail: reasonOf(error) });
    }
  }
  return findings;
}

type CheckResult = Pick<SelfTestFinding, 'outcome' | 'detail'>;
const ok = (detail: string): CheckResult => ({ outcome: 'ok', detail });
const noted = (detail: string): CheckResult => ({ outcome: 'note', detail });
const failed = (detail: string): CheckResult => ({ outcome: 'failed', detail });

function rows({ checkRows }: SelfTestParts): CheckResult {
  const [first, ...others] = checkRows();
  if (first === undefined) return ok('each is as Keyhearth wrote it, and none is missing');
  const more = others.length === 0 ? '' : `, and ${String(others.length)} more`;
  return failed(`${describeFinding(first)}${more}`);
}

async function log({ checkLog }: SelfTestParts): Promise<CheckResult> {
  const { rows: length, signed, findings } = await checkLog();
  const [first] = findings;
  if (first !== undefined) return failed(first.problem);
  return ok(`an unbroken chain of ${String(length)} entries, of which ${String(signed)} are signed`);
}

async function keychain({ keychain: tried }: SelfTestParts): Promise<CheckResult> {
  const state = await tried.probe();
  return state.available ? ok('a secret can be stored, read and removed') : noted(state.reason);
}

async function disk({ directory, storage }: SelfTestParts): Promise<CheckResult> {
  if (directory === null) return noted('this vault is in memory and writes nothing');
  const trouble = storage();
  return trouble === null ? checkDisk(join(directory, 'vault.db')) : failed(trouble.problem);
}

/** Clocks of a machine and its network differ by seconds. */
const allowedMs = 60_000;

/** Compares the clock with the log, to find one that was set back. */
function clock({ readUnverified, now }: SelfTestParts): CheckResult {
  const signedAt = readUnverified(lastLogHead)?.signedAt;
  if (signedAt === undefined) return noted('the log has no signed time to compare it with yet');
  const behind = signedAt - now();
  if (behind > allowedMs) {
    return failed(
      `it is ${String(Math.round(behind / 60_000))} minutes before the newest signed entry of the log: set the computer’s clock`,
    );
  }
  return ok('it is not before what the log has seen');
}

/** Speaks to the process that holds the vault, as the same user: over the control channel that `endpoint.json` names. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { RpcCall, VaultEvent, VaultStatus, WindowRpc } from '../../../preload/contract.ts';
import {
  beginVisit,
  isStranger,
  NobodyListensError,
  postControl,
  readControlEvents,
  SilentError,
  type ControlAnswer,
} from '../../control/client.ts';
import { isLocked, readEndpoint } from '../../storage/file/vault-directory.ts';
import { answers, type AnswerOf, type Ask } from './answers.ts';
import { CommandError, exitCodeOfOpening, exitCodes, refusal, refusedHere } from './output.ts';
import { hasVaultFile } from './vault-file.ts';
import { defined } from '../../lib/defined.ts';

/** Calls that are refused when what was given does not open the vault, for whatever reason. */
export const opening: ReadonlySet<string> = new Set<RpcCall>(['unlock', 'checkRecovery']);

/** Calls that take as long as the vault is large; the others have the time that is usual. */
const long: ReadonlySet<string> = new Set<RpcCall>([
  'unlock',
  'backUp',
  'verifyBackup',
  'restore',
  'changeKeyslots',
  'checkRows',
  'checkLog',
  'exportLog',
]);
/** In milliseconds. */
const longestCall = 60 * 60_000;

export interface Running {
  /** Of the API, as the process itself says. */
  readonly url: string;
  readonly call: Ask;
  /** Passes a call on without parsing its answer. */
  pass(name: RpcCall, args: readonly unknown[]): Promise<unknown>;
  status(): Promise<VaultStatus>;
  /** Until its end the vault may be unlocked for this command alone: then it is as it was before, also where the command was killed. */
  visit(): Promise<Disposable>;
  /** @returns an address that signs one browser in, once. */
  newLink(): Promise<string>;
  /** @returns the path of a page for the same, to be named to the program that opens browsers; null where there is none. */
  newPage(): Promise<string | null>;
  /** Reports events until the process ends, or the signal comes. */
  listen(listener: (event: VaultEvent) => void, signal: AbortSignal): Promise<void>;
}

/** The API as the vault's owner calls it. */
export const ownerOf = ({ call }: Running): Pick<WindowRpc, 'call'> => ({
  call: (path, body) => call('call', path, body),
});

const answered = z.looseObject({ value: z.unknown() });
const event = z.custom<VaultEvent>((value) => z.looseObject({ kind: z.string() }).safeParse(value).success);

/**
 * @returns undefined where no process serves the vault.
 * @throws CommandError where the process does not answer, or something else stands in its place; nothing was sent to that.
 */
export async function findRunning(directory: string): Promise<Running | undefined> {
  const endpoint = readEndpoint(directory);
  if (endpoint?.socket == null) return undefined;
  const { nonce, socket } = endpoint;
  const channel = { nonce, socket };
  const post = async <Shape extends z.ZodType>(
    path: string,
    body: unknown,
    shape: Shape,
  ): Promise<z.output<Shape>> => {
    const patience = long.has(path) ? { answer: longestCall } : {};
    const answer = await postControl(channel, path, body, patience).catch((error: unknown) => {
      throw error instanceof SilentError ? doesNotAnswer(directory, error) : error;
    });
    if (answer.status !== 200) throw refusalOf(path, answer);
    return read(path, shape, read(path, answered, parseJson(answer.text)).value);
  };
  const call: Ask = (name, ...args) => post(name, { args }, answers[name]) as Promise<AnswerOf<typeof name>>;
  const status = (): Promise<VaultStatus> => call('status');
  try {
    const { url } = await status();
    return {
      url,
      call,
      pass: (name, args) => post(name, { args }, z.unknown()),
      status,
      visit: async () => {
        const visit = await beginVisit(channel);
        if (visit === undefined) throw unexpected('visit', 'all of it');
        return visit;
      },
      newLink: () => post('link', {}, z.url()),
      newPage: () => post('page', {}, z.string().nullable()),
      listen: (listener, signal) =>
        readControlEvents(channel, {
          signal,
          onEvent: (each) => {
            listener(read('events', event, each));
          },
        }),
    };
  } catch (error) {
    // A process that was killed leaves its note behind.
    if (error instanceof NobodyListensError) return undefined;
    if (!isStranger(error)) throw error;
    throw new CommandError(
      isLocked(directory) ? exitCodes.busy : exitCodes.absent,
      `what answers at ${socket} is not the service of this vault: ${error.message}. Nothing secret was sent to it. Restart the vault: \`keyhearth serve\`, or the app`,
    );
  }
}

/** @throws CommandError where a process holds the vault, though none serves it to commands. */
export function checkNotHeld(directory: string): void {
  if (!isLocked(directory)) return;
  const pid = readEndpoint(directory)?.pid;
  throw new CommandError(
    exitCodes.busy,
    `${holderOf(directory)} has the vault in ${directory} open and accepts no commands: it is just starting or ending, or another command is at work. Try again in a moment; where that does not help, end it`,
    { directory, ...defined({ pid }) },
  );
}

function doesNotAnswer(directory: string, { message }: SilentError): CommandError {
  const pid = readEndpoint(directory)?.pid;
  const advice =
    pid !== undefined && isStopped(pid)
      ? `It was stopped: \`kill -CONT ${String(pid)}\` lets it go on`
      : 'End it, then start it again';
  return new CommandError(
    exitCodes.busy,
    `${holderOf(directory)} serves the vault in ${directory}, but ${message}; nothing is known of what it did. ${advice}`,
    { directory, ...defined({ pid }) },
  );
}

function holderOf(directory: string): string {
  const pid = readEndpoint(directory)?.pid;
  return pid === undefined ? 'A process' : `Process ${String(pid)}`;
}

/** True if a signal or a debugger has stopped a process; only Linux shows it. */
function isStopped(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [Tt] /s.test(readFileSync(`/proc/${String(pid)}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function refusalOf(path: string, { status, text }: ControlAnswer): CommandError {
  const body = parseJson(text);
  if (!refusal.safeParse(body).success) return unexpected(path, `HTTP ${String(status)}`);
  return refusedHere(body, opening.has(path) ? { exitCodeOf: exitCodeOfOpening } : {});
}

/** @throws CommandError for an answer that is not what was expected: then nothing is known of what was done. */
function read<Shape extends z.ZodType>(path: string, shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unexpected(path, issue === undefined || issue.path.length === 0 ? 'all of it' : issue.path.join('.'));
}

const unexpected = (path: string, what: string): CommandError =>
  new CommandError(
    exitCodes.failed,
    `the process that holds the vault answered ${JSON.stringify(path)} in a way that this command does not know (${what}): it may be of another version, and nothing is known of what it did. Restart it; \`keyhearth status\` says what state the vault is in`,
  );

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** @param or Another way to create one. */
export const noVault = (directory: string, or = ''): CommandError =>
  new CommandError(
    exitCodes.absent,
    `there is no vault in ${directory}: create one with \`keyhearth init\`${or}. If it is on a disk that is not mounted, mount that first`,
  );

/** @throws CommandError when no process serves the vault. */
export async function requireRunning(directory: string): Promise<Running> {
  const running = await findRunning(directory);
  if (running) return running;
  checkNotHeld(directory);
  if (!hasVaultFile(directory)) throw noVault(directory);
  throw new CommandError(
    exitCodes.absent,
    `the vault in ${directory} is not running: start it with \`keyhearth serve\`, or open the app`,
  );
}

/**
 * @param then What to do once it is unlocked.
 * @throws CommandError for a vault that is locked or frozen.
 */
export function checkUnlocked({ state, frozen }: Pick<VaultStatus, 'state' | 'frozen'>, then = ''): void {
  if (state !== 'locked') return;
  const how = frozen === null ? 'locked' : 'frozen';
  throw new CommandError(exitCodes.locked, `the vault is ${how}: run \`keyhearth unlock\`${then}`);
}

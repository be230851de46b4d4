/** Speaks to the process that holds the vault, as the same user: through `/window/`, with this run's nonce. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeCall, VaultEvent, VaultStatus } from '../../preload/contract.ts';
import { readEndpoint } from '../db/vault-directory.ts';
import { CommandError, exitCodeOfRefusal, exitCodes } from './output.ts';

/** Calls that are refused when what was given does not open the vault, for whatever reason. */
export const opening: ReadonlySet<string> = new Set<BridgeCall>(['unlock', 'checkRecovery']);

export interface Running {
  readonly url: string;
  call(name: BridgeCall, ...args: readonly unknown[]): Promise<unknown>;
  status(): Promise<VaultStatus>;
  /** @returns an address that signs one browser in, once. */
  newLink(): Promise<string>;
  /** Tells of events until the process ends, or the signal comes. */
  listen(listener: (event: VaultEvent) => void, signal: AbortSignal): Promise<void>;
}

/** @returns undefined where no process serves the vault. */
export async function findRunning(directory: string): Promise<Running | undefined> {
  const endpoint = readEndpoint(directory);
  if (endpoint?.port == null) return undefined;
  const url = `http://127.0.0.1:${String(endpoint.port)}`;
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}/window/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${endpoint.nonce}` },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.ok) return answer;
    const message =
      typeof answer['message'] === 'string' ? answer['message'] : `HTTP ${String(response.status)}`;
    const code = exitCodeOfRefusal(answer['turnkeyErrorCode']);
    throw new CommandError(opening.has(path) && code === exitCodes.failed ? exitCodes.locked : code, message);
  };
  const running: Running = {
    url,
    call: async (name, ...args) => (await post(name, { args }))['value'],
    status: async () => (await running.call('status')) as VaultStatus,
    newLink: async () =>
      `http://localhost:${endpoint.port}/#code=${String((await post('link', {}))['code'])}`,
    listen: async (listener, signal) => {
      const { body } = await fetch(`${url}/window/events`, {
        headers: { Authorization: `Bearer ${endpoint.nonce}` },
        signal,
      });
      let rest = '';
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = `${rest}${text}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          if (line.startsWith('data: ')) listener(JSON.parse(line.slice('data: '.length)) as VaultEvent);
        }
      }
    },
  };
  try {
    await running.status();
    return running;
  } catch (error) {
    // A process that was killed leaves its note behind: nobody listens there, or somebody else does.
    if (error instanceof TypeError || error instanceof CommandError || error instanceof SyntaxError)
      return undefined;
    throw error;
  }
}

export const noVault = (directory: string): CommandError =>
  new CommandError(exitCodes.absent, `there is no vault in ${directory}: make one with \`latchkey init\``);

/** @throws CommandError when no process serves the vault. */
export async function requireRunning(directory: string): Promise<Running> {
  const running = await findRunning(directory);
  if (running) return running;
  if (!existsSync(join(directory, 'vault.db'))) throw noVault(directory);
  throw new CommandError(
    exitCodes.absent,
    `no Latchkey serves the vault in ${directory}: start it with \`latchkey serve\`, or open the app`,
  );
}

/** `keyhearth requests`: what came to the API, and what was wrong with it. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ProofStep, SeenRequest } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import { requireRunning } from '../shared/client.ts';
import { dataDirectory } from '../vault/control.ts';
import { note, print } from '../shared/output.ts';
import { untilSignalled } from '../shared/signals.ts';

export interface RequestsOptions {
  readonly follow?: boolean;
  readonly failed?: boolean;
  readonly json: boolean;
}

const pauseMs = 500;

/** Writes them oldest first; one line of JSON each. */
export async function showRequests(
  config: Config,
  { follow = false, failed = false, json }: RequestsOptions,
): Promise<void> {
  const running = await requireRunning(dataDirectory(config));
  let last = 0;
  const show = async (): Promise<number> => {
    const { requests } = await running.call('requests', last);
    last = requests[0]?.id ?? last;
    const chosen = requests.filter(({ status }) => !failed || status >= 400).reverse();
    for (const request of chosen) print(json, request, describe(request));
    return chosen.length;
  };
  const shown = await show();
  if (shown === 0 && !json && !follow) {
    print(false, {}, failed ? 'No request was refused.' : 'No request came since the service started.');
  }
  if (!follow) return;
  note(`Following the requests to ${running.url}; Ctrl-C ends it.`);
  const ended = new AbortController();
  void untilSignalled(config).then(() => {
    ended.abort();
  });
  try {
    for (;;) {
      await wait(pauseMs, undefined, { signal: ended.signal });
      await show();
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

function describe(request: SeenRequest): string {
  const { at, method, path, status, durationMs, caller, activity, error, steps } = request;
  const who = caller === null ? [] : [caller.userName ?? `user ${caller.userId}`];
  const what = activity === null ? [] : [`activity ${activity.id}`];
  const head = [
    new Date(at).toISOString(),
    status === 0 ? 'gone' : String(status),
    method,
    path,
    `${durationMs.toFixed(1)} ms`,
    ...who,
    ...what,
  ].join('  ');
  return [
    head,
    ...(error === null ? [] : [`  ${error.code}: ${error.message}`]),
    ...(error?.byPolicies === true
      ? ['  Policies decided so: `keyhearth policies explain` says which.']
      : []),
    ...steps.flatMap(describeStep),
  ].join('\n');
}

const marks = { passed: '+', failed: 'x', skipped: '-' } as const satisfies Record<
  ProofStep['outcome'],
  string
>;

const describeStep = ({ check, outcome, text, advice }: ProofStep): readonly string[] => [
  `  ${marks[outcome]} ${names[check]}: ${text}`,
  ...(advice === null ? [] : [`      ${advice}`]),
];

const names = {
  header: 'Header',
  encoding: 'Encoding',
  scheme: 'Scheme',
  publicKey: 'Public key',
  body: 'Body',
  signature: 'Signature',
  organization: 'Organization',
  credential: 'Credential',
  expiry: 'Expiry',
  time: 'Time',
} as const satisfies Record<ProofStep['check'], string>;

/**
 * The running vault's API as its owner asks it over the control socket: no key of the owner's has to lie on the disk. The
 * service asks for a secret of the owner's before it adds a way in.
 */
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { stepUpRequired, type CallAnswer } from '../../../preload/contract.ts';
import type { Config } from '../../app/config.ts';
import type {
  ActivityParameters,
  ActivityResult,
  ActivityType,
  Answer,
  QueryParameters,
  QueryPath,
  Reading,
  VoteType,
} from '../../operations/api.ts';
import { queryAsOwner, submitAsOwner, voteAsOwner } from '../../rpc/owner-calls.ts';
import { keyFileOf } from '../credentials/key-files.ts';
import { dataDirectory } from '../vault/control.ts';
import { activityAnswer, completedResult, VaultApi, type ActivityKind, type Api } from './api.ts';
import { checkUnlocked, ownerOf, requireRunning, type Running } from './client.ts';
import { refusal, refusedHere } from './output.ts';
import { withSecret, type SecretOptions } from './proof.ts';

export interface OwnerOptions extends SecretOptions {
  /** The API key files to stamp with; the owner asks where there is no name, and no key called `owner`. */
  readonly apiKey?: string;
}

/** The key that `keyhearth init` and `keygen --name owner` make. */
const ownersKey = 'owner';

/** @returns the API stamped with a key, or asked by the owner where there is none to stamp with. */
export async function connectAsOwner(config: Config, options: OwnerOptions): Promise<Api> {
  const { apiKey = ownersKey } = options;
  const isKeyGiven = options.apiKey !== undefined || config.apiKey !== undefined;
  // The control socket leads to the vault of this machine alone.
  const isElsewhere = config.remote !== undefined;
  if (isKeyGiven || isElsewhere || existsSync(keyFileOf(config.keysDirectory, apiKey))) {
    return VaultApi.connect(config, apiKey);
  }
  const running = await requireRunning(dataDirectory(config));
  checkUnlocked(await running.status());
  return ownerApiOf(config, running, options);
}

/** @returns the API as the owner asks it of the process that serves the vault, without a key. */
export const ownerApiOf = (config: Config, running: Running, secrets: SecretOptions): Api =>
  new OwnerApi(running, secrets, config.waitSeconds);

type Activity = z.output<typeof activityAnswer>['activity'];

/** Milliseconds between two looks at an activity that waits. */
const betweenLooks = 500;

class OwnerApi implements Api {
  readonly #running: Running;
  readonly #secrets: SecretOptions;
  readonly #waitSeconds: number;

  constructor(running: Running, secrets: SecretOptions, waitSeconds: number) {
    this.#running = running;
    this.#secrets = secrets;
    this.#waitSeconds = waitSeconds;
  }

  async query<Path extends QueryPath, Shape extends z.ZodType>(
    path: Path,
    shape: Shape & Reading<Answer<Path>, Shape>,
    parameters: QueryParameters<Path>,
  ): Promise<z.output<Shape>> {
    const answer = await queryAsOwner(ownerOf(this.#running), path, parameters);
    if (answer.isRefused) throw refusedHere(answer.body);
    return read<Shape>(shape, answer.body);
  }

  async submit<Type extends ActivityType, Shape extends z.ZodType>(
    kind: ActivityKind<Type, Shape & Reading<ActivityResult<Type>, Shape>>,
    parameters: ActivityParameters<Type>,
  ): Promise<z.output<Shape>> {
    const body = await this.#confirmed(
      () => submitAsOwner(ownerOf(this.#running), kind.type, parameters),
      kind.options,
    );
    const { activity } = activityAnswer.parse(body);
    return read<Shape>(kind.result, completedResult(kind, await this.#decided(activity)));
  }

  async vote<Shape extends z.ZodType>(
    type: VoteType,
    fingerprint: string,
    shape: Shape,
  ): Promise<z.output<Shape>> {
    const body = await this.#confirmed(() => voteAsOwner(ownerOf(this.#running), type, fingerprint));
    return read<Shape>(shape, (body as { readonly activity: unknown }).activity);
  }

  /** Sends, and sends again with a secret of the owner's where the service asks for one. @returns the body of the answer. */
  async #confirmed(
    send: () => Promise<CallAnswer>,
    options?: Readonly<Record<string, string>>,
  ): Promise<unknown> {
    let answer = await send();
    if (answer.status !== 200 && refusal.parse(answer.body).turnkeyErrorCode === stepUpRequired) {
      await withSecret(this.#secrets, await this.#running.status(), (secret) =>
        this.#running.call('prove', secret),
      );
      answer = await send();
    }
    if (answer.status !== 200) throw refusedHere(answer.body, { fields: options });
    return answer.body;
  }

  /** @returns the activity as it is once it needs no more approvals, or once the command may wait no longer. */
  async #decided(activity: Activity): Promise<Activity> {
    const end = performance.now() + this.#waitSeconds * 1000;
    let latest = activity;
    while (latest.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' && performance.now() < end) {
      await pause(betweenLooks);
      ({ activity: latest } = await this.query('get_activity', activityAnswer, { activityId: activity.id }));
    }
    return latest;
  }
}

const read = <Shape extends z.ZodType>(shape: Shape, answer: unknown): z.output<Shape> => shape.parse(answer);

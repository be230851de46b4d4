/**
 * Votes on what waits, while the users who vote, their keys, their tags and the policies change at random. An activity happens
 * where those who have approved are enough, as they are at the last vote and by the rule of that moment, and only there. A model
 * of its own says who is enough: it knows people and rules, and nothing of how the vault decides.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  activityOf,
  newTestKey,
  newWallet,
  resultOf,
  startTestVault,
  type Answer,
  type Json,
  type TestClient,
} from '../support/support.ts';
import { atLength, report } from './length.ts';

const rounds = atLength(24, 300);
/** The short campaign is the same each time, the full one another. A failure prints its seed, for `KEYHEARTH_VOTES_SEED`. */
const seed = Number(process.env['KEYHEARTH_VOTES_SEED'] ?? atLength(2026, randomInt(2 ** 31)));

type Key = ReturnType<typeof newTestKey>;

interface Person {
  userId: string;
  readonly name: string;
  /** Those that stamp requests of this person now. */
  readonly keys: Set<Key>;
  isTagged: boolean;
  /** The policy that denies what this person asks for. */
  denial: string | undefined;
}

/** A request that waits. */
interface Asked {
  readonly fingerprint: string;
  readonly submitterId: string;
  readonly approvals: readonly Approval[];
}

interface Approval {
  readonly userId: string;
  readonly key: Key;
}

/** Each happens as often as it is named. */
const changes = [
  ...['ask', 'ask', 'ask', 'vote', 'vote', 'vote', 'vote', 'vote', 'vote'],
  ...['tag', 'removeKey', 'addKey', 'moveKey', 'threshold', 'deny', 'recreate'],
  ...['dropPolicy', 'makePolicy', 'makePolicy'],
] as const;
type Change = (typeof changes)[number];

interface Step {
  readonly change: Change;
  readonly who: number;
  readonly other: number;
  /** One of the two keys. */
  readonly key: number;
  /** One of the requests that wait, or the number that must approve. */
  readonly which: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  change: fc.constantFrom(...changes),
  who: fc.nat(3),
  other: fc.nat(3),
  key: fc.nat(1),
  which: fc.nat(),
});

/** How a request or a vote is answered: by its activity's status, or by the code of the refusal. */
const ends = {
  happened: { status: 'ACTIVITY_STATUS_COMPLETED' },
  waited: { status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' },
  refused: { code: 7 },
  unknown: { code: 16 },
};

type End = keyof typeof ends;

/** Four people with two keys each, and the one policy that lets them name a wallet together. */
class Round {
  readonly counts: Record<End, number> = { happened: 0, waited: 0, refused: 0, unknown: 0 };
  readonly #root: TestClient;
  readonly #walletId: string;
  readonly #nextTime: () => string;
  readonly #name: string;
  readonly #keys: readonly (readonly [Key, Key])[] = Array.from({ length: 4 }, () => [
    newTestKey(),
    newTestKey(),
  ]);
  #tagId = '';
  #people: readonly Person[] = [];
  #threshold = 2;
  #policyId: string | undefined;
  #asked: readonly Asked[] = [];

  /** @param nextTime Answers another time at each call: requests that are otherwise the same are two. */
  constructor(root: TestClient, walletId: string, nextTime: () => string) {
    this.#root = root;
    this.#walletId = walletId;
    this.#nextTime = nextTime;
    this.#name = nextTime();
  }

  async begin(): Promise<void> {
    const made = await this.#as('CREATE_USER_TAG', { userTagName: `Voters ${this.#name}`, userIds: [] });
    this.#tagId = String(made['userTagId']);
    const users = this.#keys.map((keys, index) => ({ name: `Person ${this.#name} ${String(index)}`, keys }));
    const userIds = await this.#createUsers(users);
    this.#people = users.map(({ name, keys }, index) => {
      const userId = userIds[index] ?? '';
      return { userId, name, keys: new Set(keys), isTagged: true, denial: undefined };
    });
    await this.#makePolicy();
  }

  /** Takes away all that counts towards a limit of the organization. */
  async end(): Promise<void> {
    for (const person of this.#people) await this.#allow(person);
    await this.#dropPolicy();
    await this.#as('DELETE_USERS', { userIds: this.#people.map(({ userId }) => userId) });
    await this.#as('DELETE_USER_TAGS', { userTagIds: [this.#tagId] });
  }

  async take({ change, who, other, key: whichKey, which }: Step): Promise<void> {
    const person = this.#people[who];
    const key = this.#keys[who]?.[whichKey];
    if (person === undefined || key === undefined) throw new Error('there are four people with two keys');
    const canSpare = person.keys.has(key) && person.keys.size > 1;
    switch (change) {
      case 'ask':
        return this.#ask(key);
      case 'vote': {
        const request = this.#asked[which % Math.max(this.#asked.length, 1)];
        return request && this.#vote(request, key);
      }
      case 'tag':
        person.isTagged = !person.isTagged;
        await this.#as('UPDATE_USER_TAG', {
          userTagId: this.#tagId,
          addUserIds: person.isTagged ? [person.userId] : [],
          removeUserIds: person.isTagged ? [] : [person.userId],
        });
        return;
      case 'removeKey':
        if (canSpare) await this.#removeKey(person, key);
        return;
      case 'addKey':
        if (this.#ownerOf(key) === undefined) await this.#addKey(person, key);
        return;
      case 'moveKey': {
        const target = this.#people[other];
        if (target === undefined || target === person || !canSpare) return;
        await this.#removeKey(person, key);
        return this.#addKey(target, key);
      }
      case 'threshold':
        this.#threshold = 1 + (which % 3);
        if (this.#policyId === undefined) return;
        await this.#as('UPDATE_POLICY_V2', { policyId: this.#policyId, policyConsensus: this.#consensus });
        return;
      case 'dropPolicy':
        return this.#dropPolicy();
      case 'makePolicy':
        if (this.#policyId === undefined) await this.#makePolicy();
        return;
      case 'deny':
        return person.denial === undefined ? this.#deny(person) : this.#allow(person);
      case 'recreate': {
        await this.#as('DELETE_USERS', { userIds: [person.userId] });
        const { name, keys, isTagged } = person;
        const [userId = ''] = await this.#createUsers([{ name, keys: [...keys] }]);
        person.userId = userId;
        if (!isTagged) {
          await this.#as('UPDATE_USER_TAG', {
            userTagId: this.#tagId,
            addUserIds: [],
            removeUserIds: [userId],
          });
        }
        // It is about the user who is gone.
        await this.#allow(person);
      }
    }
  }

  /** The model: how many of those who are tagged have approved with a key that they still have. */
  #isEnough({ submitterId, approvals }: Pick<Asked, 'submitterId' | 'approvals'>): boolean {
    const submitter = this.#people.find(({ userId }) => userId === submitterId);
    if (this.#policyId === undefined || submitter === undefined || submitter.denial !== undefined)
      return false;
    const agreeing = this.#people.filter(
      ({ userId, keys, isTagged }) =>
        isTagged && approvals.some((approval) => approval.userId === userId && keys.has(approval.key)),
    );
    return agreeing.length >= this.#threshold;
  }

  /** The model: an approval of this person could be one of enough. */
  #matters({ isTagged }: Person): boolean {
    const tagged = this.#people.filter((person) => person.isTagged);
    return this.#policyId !== undefined && isTagged && tagged.length >= this.#threshold;
  }

  async #ask(key: Key): Promise<void> {
    const walletName = `Wallet ${this.#nextTime()}`;
    const answer = await this.#send(key, 'UPDATE_WALLET', { walletId: this.#walletId, walletName });
    const submitter = this.#ownerOf(key);
    const submitterId = submitter?.userId ?? '';
    const asked = { submitterId, approvals: [{ userId: submitterId, key }] };
    const mayAsk = submitter !== undefined && submitter.denial === undefined && this.#matters(submitter);
    if (this.#answered(answer, submitter, mayAsk, asked) !== 'waited') return;
    this.#asked = [...this.#asked, { fingerprint: activityOf(answer).fingerprint, ...asked }];
  }

  async #vote(asked: Asked, key: Key): Promise<void> {
    const { fingerprint, submitterId } = asked;
    const answer = await this.#send(key, 'APPROVE_ACTIVITY', { fingerprint });
    const voter = this.#ownerOf(key);
    // The person who asked may always vote again.
    const mayVote = voter !== undefined && (voter.userId === submitterId || this.#matters(voter));
    const voted = { ...asked, approvals: [...asked.approvals, { userId: voter?.userId ?? '', key }] };
    const end = this.#answered(answer, voter, mayVote, voted);
    if (end === 'refused' || end === 'unknown') return;
    const others = this.#asked.filter((each) => each !== asked);
    this.#asked = end === 'happened' ? others : [...others, voted];
  }

  /** Expects the end that the model says, and answers it. */
  #answered(
    answer: Answer,
    sender: Person | undefined,
    may: boolean,
    asked: Pick<Asked, 'submitterId' | 'approvals'>,
  ): End {
    const accepted = this.#isEnough(asked) ? 'happened' : 'waited';
    const end = sender === undefined ? 'unknown' : may ? accepted : 'refused';
    const { status, body } = answer;
    const was = status === 200 ? { status: activityOf(answer).status } : { code: body?.['code'] };
    expect(was, answer.text).toEqual(ends[end]);
    this.counts[end] += 1;
    return end;
  }

  get #consensus(): string {
    return `approvers.filter(user, user.tags.contains('${this.#tagId}')).count() >= ${String(this.#threshold)}`;
  }

  async #makePolicy(): Promise<void> {
    const made = await this.#as('CREATE_POLICY_V3', {
      policyName: `Names ${this.#name}`,
      effect: 'EFFECT_ALLOW',
      condition: "activity.kind == 'UPDATE_WALLET'",
      consensus: this.#consensus,
      notes: '',
    });
    this.#policyId = String(made['policyId']);
  }

  async #dropPolicy(): Promise<void> {
    if (this.#policyId !== undefined) await this.#as('DELETE_POLICY', { policyId: this.#policyId });
    this.#policyId = undefined;
  }

  async #deny(person: Person): Promise<void> {
    const made = await this.#as('CREATE_POLICY_V3', {
      policyName: `Not ${person.name}`,
      effect: 'EFFECT_DENY',
      condition: `submitter.id == '${person.userId}'`,
      consensus: '',
      notes: '',
    });
    person.denial = String(made['policyId']);
  }

  async #allow(person: Person): Promise<void> {
    if (person.denial !== undefined) await this.#as('DELETE_POLICY', { policyId: person.denial });
    person.denial = undefined;
  }

  /** Creates users who have the tag. */
  async #createUsers(
    users: readonly { readonly name: string; readonly keys: readonly Key[] }[],
  ): Promise<readonly string[]> {
    const { userIds } = await this.#as('CREATE_USERS_V3', {
      users: users.map(({ name, keys }) => ({
        ...{ userName: name, userTags: [this.#tagId], apiKeys: keys.map(asApiKey) },
        ...{ authenticators: [], oauthProviders: [] },
      })),
    });
    return userIds as readonly string[];
  }

  async #addKey(person: Person, key: Key): Promise<void> {
    await this.#as('CREATE_API_KEYS_V2', { userId: person.userId, apiKeys: [asApiKey(key)] });
    person.keys.add(key);
  }

  async #removeKey(person: Person, key: Key): Promise<void> {
    const { body } = await this.#root.query('get_user', { userId: person.userId });
    const { apiKeys } = (body as { user: { apiKeys: { apiKeyId: string; apiKeyName: string }[] } }).user;
    const apiKeyIds = apiKeys
      .filter(({ apiKeyName }) => apiKeyName === asApiKey(key).apiKeyName)
      .map(({ apiKeyId }) => apiKeyId);
    await this.#as('DELETE_API_KEYS', { userId: person.userId, apiKeyIds });
    person.keys.delete(key);
  }

  #ownerOf(key: Key): Person | undefined {
    return this.#people.find(({ keys }) => keys.has(key));
  }

  /** Changes something as the owner. */
  async #as(type: string, parameters: Json): Promise<Json> {
    return resultOf(await this.#submit(this.#root, type, parameters));
  }

  async #send(key: Key, type: string, parameters: Json): Promise<Answer> {
    return this.#submit(this.#root.as(key), type, parameters);
  }

  async #submit(client: TestClient, type: string, parameters: Json): Promise<Answer> {
    const path = type.toLowerCase().replace(/_v\d$/, '');
    return client.submit(path, type, parameters, { timestampMs: this.#nextTime() });
  }
}

const asApiKey = ({ publicKey }: Key) => ({
  ...{ apiKeyName: publicKey.slice(-8), publicKey, curveType: 'API_KEY_CURVE_P256' },
});

test(
  `an activity happens where those who have approved are enough, and only there, ${String(rounds)} rounds`,
  { timeout: atLength(2, 30) * 60_000 },
  async () => {
    await using service = await startTestVault();
    let requests = 0;
    const nextTime = (): string => String(service.clock.wall() + (requests += 1));
    const { walletId } = await newWallet(service.root);
    const sums = { happened: 0, waited: 0, refused: 0, unknown: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
        const round = new Round(service.root, walletId, nextTime);
        await round.begin();
        try {
          for (const each of steps) await round.take(each);
        } finally {
          await round.end();
        }
        sums.happened += round.counts.happened;
        sums.waited += round.counts.waited;
        sums.refused += round.counts.refused;
        sums.unknown += round.counts.unknown;
      }),
      { numRuns: rounds, seed },
    );

    report('votes', { seed, rounds, ...sums });
    for (const count of Object.values(sums)) expect(count).toBeGreaterThan(rounds / 3);
  },
);

/** SSH's view of a raw payload: the description for people and the facts for policies, from one reading. */
import type { HashFunction } from '../../crypto/hashes.ts';
import { decodeHex } from '../../crypto/encodings.ts';
import { once } from '../../lib/once.ts';
import { Unknown } from '../../policy/language/types.ts';
import { nothingInPayload, type Context, type InPayload } from '../chain.ts';
import { line, unreadDescription, Writer, type Description, type Line } from '../description.ts';
import type { FactOf } from '../facts.ts';
import { claimsIn, type Origin } from '../origin.ts';
import { utf8 } from '../reading.ts';
import { readBinding, type Binding } from './bindings.ts';
import { readGitObject, type GitObject } from './git.ts';
import { readSshPayload, type SshLogin, type SshMessage } from './payloads.ts';
import { encodeSshKey, fingerprint, isSshCurve } from './wire.ts';

/** The part of a request that is not in the signed bytes. */
export interface Beside {
  /** The message whose hash is signed. */
  readonly message?: Uint8Array | undefined;
  readonly origin?: Origin | undefined;
}

type SshFact = FactOf<'ssh'>;
type GitFact = FactOf<'git'>;

/** @param bytes As in `Chain.inPayload`. */
export function sshInPayload(
  bytes: Uint8Array,
  hashFunction: HashFunction,
  { key }: Context,
  beside: Beside,
): InPayload {
  const curve = curveOf(hashFunction);
  if (curve === undefined || (key !== undefined && key.curve !== curve)) return nothingInPayload;
  const read = readSshPayload(bytes);
  if (read === undefined) return nothingInPayload;
  if (!read.ok) return unread(read.problem);
  const payload = read.value;
  if (payload.kind === 'message') return openMessage(payload, beside);
  if (key !== undefined && isSshCurve(key.curve)) {
    const own = encodeSshKey({ curve: key.curve, publicKey: key.publicKey });
    if (Buffer.compare(own, payload.key) !== 0) return unread('it names another key than the one that signs');
  }
  return openLogin(payload, beside);
}

/** The curve whose SSH signatures are over such a hash; undefined where none is. */
const curveOf = (hashFunction: HashFunction) =>
  hashFunction === 'HASH_FUNCTION_NOT_APPLICABLE'
    ? 'CURVE_ED25519'
    : hashFunction === 'HASH_FUNCTION_SHA256'
      ? 'CURVE_P256'
      : undefined;

const unread = (problem: string): InPayload => ({
  facts: {
    ssh: () => new Unknown(`it begins like a payload of SSH: ${problem}`),
    git: () => unreadGit(problem),
  },
  describe: () => unreadDescription('A payload of SSH', problem),
});

const unreadGit = (problem: string): Unknown => new Unknown(`the git object cannot be read: ${problem}`);

/** The session bindings of a request, each proven; or why they are not. */
function bindingsOf({ bindings = [] }: Origin): readonly Binding[] | Unknown {
  const read: Binding[] = [];
  for (const hex of bindings) {
    const binding = readBinding(decodeHex('parameters.origin.bindings', hex));
    if (!binding.ok) return new Unknown(`a session binding does not hold: ${binding.problem}`);
    read.push(binding.value);
  }
  return read;
}

/** The way of a request to the agent: the servers that it was forwarded through, and the one that the client speaks to. */
interface Way {
  readonly via: readonly string[] | Unknown;
  readonly hostKey: string | Unknown;
}

function wayOf({ sessionId, hostKey }: SshLogin, origin: Origin | undefined): Way {
  const signed = hostKey && fingerprint(hostKey);
  const unbound = new Unknown('the SSH client did not bind its session, so it may be on another machine');
  if (origin === undefined) return { via: unbound, hostKey: signed ?? unbound };
  const bindings = bindingsOf(origin);
  if (bindings instanceof Unknown) return { via: bindings, hostKey: signed ?? bindings };
  const own = bindings.find(
    (binding) => !binding.forwards && Buffer.compare(binding.sessionId, sessionId) === 0,
  );
  if (own === undefined) return { via: unbound, hostKey: signed ?? unbound };
  const bound = fingerprint(own.hostKey);
  if (signed !== undefined && signed !== bound) {
    const other = new Unknown('the session is bound to another server than the one that is signed');
    return { via: other, hostKey: other };
  }
  return { via: forwarders(bindings), hostKey: bound };
}

const forwarders = (bindings: readonly Binding[]): readonly string[] =>
  bindings.flatMap(({ forwards, hostKey }) => (forwards ? [fingerprint(hostKey)] : []));

const isForwarded = (via: Way['via']): boolean | Unknown => (via instanceof Unknown ? via : via.length > 0);

function openLogin(login: SshLogin, { origin }: Beside): InPayload {
  const way = once(() => wayOf(login, origin));
  return {
    facts: {
      ssh: (): SshFact => ({
        purpose: 'LOGIN',
        user: login.user,
        service: login.service,
        host_key: way().hostKey,
        host: origin?.host,
        via: way().via,
        forwarded: isForwarded(way().via),
      }),
    },
    describe() {
      const writer = new Writer();
      const { hostKey, via } = way();
      if (hostKey instanceof Unknown) writer.warn('Which server this logs in to is not known.');
      if (!(via instanceof Unknown) && via.length > 0) {
        writer.warn('The request came from another machine, through a forwarded agent.');
      }
      return described(
        `Log in as ${writer.text(login.user)}${claimsIn(origin, writer)}`,
        [
          line('User', writer.text(login.user)),
          line('Service', writer.text(login.service)),
          line('Host key', hostKey instanceof Unknown ? `Unknown: ${hostKey.reason}` : hostKey),
          ...wayLines(via),
        ],
        writer,
      );
    },
  };
}

const wayLines = (via: Way['via']): readonly Line[] =>
  via instanceof Unknown
    ? [line('Forwarded', `Unknown: ${via.reason}`)]
    : via.map((key) => line('Forwarded by', key));

function openMessage(payload: SshMessage, { message, origin }: Beside): InPayload {
  const via = once(() => {
    const bindings = bindingsOf(origin ?? { door: '', program: '' });
    return bindings instanceof Unknown ? bindings : forwarders(bindings);
  });
  const object = once(() => (message === undefined ? undefined : readGitObject(message)));
  const isGit = payload.namespace === 'git';
  return {
    facts: {
      ssh: (): SshFact => ({
        purpose: 'SIGNATURE',
        namespace: payload.namespace,
        via: via(),
        forwarded: isForwarded(via()),
      }),
      ...(isGit && { git: () => gitFact(object(), origin) }),
    },
    describe() {
      const writer = new Writer();
      const read = isGit ? object() : undefined;
      const passing = wayLines(via());
      if (via() instanceof Unknown || (via() as readonly string[]).length > 0) {
        writer.warn('The request came from another machine, through a forwarded agent.');
      }
      const purpose = line('Purpose', writer.text(payload.namespace));
      if (message === undefined) {
        writer.warn('Only a hash of the message came, so this vault cannot show the message.');
        const digest = line(payload.hash.toUpperCase(), writer.bytes(payload.digest));
        return described(`Sign a message for ${purpose.value}`, [purpose, digest, ...passing], writer);
      }
      if (read?.ok === true) {
        return describeGit(
          read.value,
          { around: [purpose, ...passing], said: claimsIn(origin, writer) },
          writer,
        );
      }
      if (isGit) writer.warn('This is neither a commit nor a tag that this vault can read.');
      return described(
        `Sign a message for ${purpose.value}`,
        [purpose, contentLine(message, writer), ...passing],
        writer,
      );
    },
  };
}

function contentLine(message: Uint8Array, writer: Writer): Line {
  const text = utf8(message);
  return text === undefined ? line('Bytes', writer.bytes(message)) : line('Text', writer.text(text));
}

function gitFact(read: ReturnType<typeof readGitObject> | undefined, origin: Origin | undefined): GitFact {
  const claims = { repository: origin?.repository, branch: origin?.branch };
  if (read?.ok !== true) {
    const unknown = unreadGit(read === undefined ? 'only its hash came' : read.problem);
    return { kind: unknown, subject: unknown, author: unknown, ...claims };
  }
  const { kind, subject, headers } = read.value;
  const find = (...names: readonly string[]) => headers.find(({ name }) => names.includes(name))?.value;
  return { kind, subject, author: find('author', 'tagger') ?? '', ...claims };
}

const labels: Readonly<Partial<Record<string, string>>> = {
  tree: 'Tree',
  parent: 'Parent',
  author: 'Author',
  committer: 'Committer',
  object: 'Object',
  type: 'Type',
  tag: 'Tag',
  tagger: 'Tagger',
};

function describeGit(
  { kind, subject, headers, message }: GitObject,
  { around, said }: { readonly around: readonly Line[]; readonly said: string },
  writer: Writer,
): Description {
  return described(
    `Sign the ${kind} “${writer.text(subject)}”${said}`,
    [
      line('Message', writer.text(message)),
      ...headers.map(({ name, value }) => line(labels[name] ?? name, writer.text(value))),
      ...around,
    ],
    writer,
  );
}

const described = (title: string, lines: readonly Line[], { warnings }: Writer): Description => ({
  title,
  lines,
  parts: [],
  warnings,
  digests: [],
});

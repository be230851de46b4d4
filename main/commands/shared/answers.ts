/**
 * Answers of the process that holds the vault, as commands read them. A command reports success only for an
 * expected answer. Unknown fields of a later version are ignored.
 */
import { doorNames } from '../../lib/policies/doors.ts';
import { securityEventKinds, securityWays } from '../../lib/text/security-events.ts';
import { z } from 'zod';
import type { RpcCall, VaultRpc } from '../../../preload/contract.ts';

/** The answer of an rpc call. */
export type AnswerOf<Name extends RpcCall> = Awaited<ReturnType<VaultRpc[Name]>>;

const text = z.string();
/** Of milliseconds, bytes, rows and the like. */
const number = z.number();
const texts = z.array(text);
const kind = z.enum(['keychain', 'password', 'recovery']);

const finding = z.looseObject({ table: text, row: text.nullable(), problem: text });

const status = z.looseObject({
  state: z.enum(['none', 'locked', 'unlocked']),
  unlocking: z.looseObject({ checked: number, total: number }).nullable(),
  frozen: z
    .looseObject({
      at: number,
      lastSignature: z.looseObject({ activityId: text, type: text, at: number }).nullable(),
      unsaved: text.nullable(),
    })
    .nullable(),
  version: text,
  url: z.url({ protocol: /^http$/ }),
  rpId: text,
  directory: text.nullable(),
  program: z.tuple([text], text),
  organization: z.looseObject({ id: text, name: text }).nullable(),
  owner: z.looseObject({ userId: text, userName: text }).nullable(),
  keyslots: z.array(kind),
  keychain: z.discriminatedUnion('available', [
    z.looseObject({ available: z.literal(true) }),
    z.looseObject({ available: z.literal(false), reason: text, off: z.literal(true).exactOptional() }),
  ]),
  delayed: z
    .looseObject({ why: z.enum(['offline', 'network off', 'failing']), messages: number, endpoints: number })
    .nullable(),
  windowKey: text.nullable(),
  serverKeys: z.looseObject({ signer: text, notarizer: text, tlsFetcher: text }).nullable(),
  tampering: z.looseObject({ total: number, findings: z.array(finding) }).nullable(),
  storage: z
    .looseObject({
      cause: z.enum(['full', 'quota', 'read-only', 'forbidden', 'too-large', 'failing']),
      ...{ file: text, problem: text, since: number },
    })
    .nullable(),
  wordsNotShown: z.boolean(),
  longestTurn: z.looseObject({ name: text, ms: number, at: number }).nullable(),
});

const keyslots = z.looseObject({
  vaultId: text,
  keyslots: z.array(z.looseObject({ id: text, kind, createdAt: number, confirmedAt: number.nullable() })),
});

const sheet = z.looseObject({
  title: text,
  secret: z.discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('phrase'), words: texts }),
    z.looseObject({ kind: z.literal('share'), text, number }),
  ]),
  code: text,
  facts: z.array(z.tuple([text, text])),
  how: texts,
});

const logHead = z.looseObject({
  ...{ sequence: number, hash: text, signedAt: number, publicKey: text, signature: text },
});
const logState = z.looseObject({
  rows: number,
  head: logHead.nullable(),
  publicKey: text,
  witness: z.union([z.looseObject({ sequence: number }), z.looseObject({ obstacle: text })]).nullable(),
});
const securityEvent = z.looseObject({
  kind: z.enum(securityEventKinds),
  way: z.enum(securityWays).exclude(['']).nullable(),
  ...{ count: number, firstAt: number, lastAt: number },
});
const logPart = z.looseObject({
  text,
  next: z.looseObject({ after: number, until: number }).nullable(),
});

const backup = z.looseObject({
  ...{ id: text, file: text, madeAt: number, size: number, logRows: number, logHead: text },
  provenAt: number.nullable(),
  problem: text.nullable(),
  found: z.boolean().nullable(),
});
const backups = z.looseObject({
  available: z.boolean(),
  backups: z.array(backup),
  schedule: z
    .looseObject({
      ...{ directory: text, hours: number, dueAt: number },
      failure: z.looseObject({ message: text, at: number }).nullable(),
    })
    .nullable(),
  notices: z.array(
    z.looseObject({ kind: z.enum(['none', 'failing', 'old', 'waiting', 'unproven']), message: text }),
  ),
  running: z
    .looseObject({ what: z.enum(['backup', 'verify']), file: text, done: number, total: number })
    .nullable(),
  suggestedDirectory: text,
});
const verified = z.looseObject({
  ...{ file: text, vaultId: text, madeAt: number, size: number, organization: text },
  openedWith: z.enum(['password', 'recovery', 'vault']),
  log: z.looseObject({ rows: number, head: text }),
  counts: z.looseObject({
    ...{ users: number, wallets: number, accounts: number, privateKeys: number, sealed: number },
  }),
  problems: texts,
  problemCount: number,
  uncovered: z
    .looseObject({
      activities: number,
      resources: z.array(z.looseObject({ kind: text, added: number, changed: number, removed: number })),
    })
    .nullable(),
  recordedAt: number.nullable(),
});

const mail = z.looseObject({
  ...{ host: text, port: number, user: text.nullable(), replyTo: text.nullable() },
  security: z.enum(['tls', 'starttls', 'none']),
  from: z.looseObject({ address: text, name: text.nullable() }),
  otherSenders: texts,
  certificates: text.nullable(),
});
const sms = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('twilio'),
    ...{ accountSid: text, apiKeySid: text.nullable(), from: text, url: text },
  }),
  z.looseObject({
    kind: z.literal('http'),
    method: z.enum(['GET', 'POST', 'PUT']),
    origin: text,
    headers: texts,
  }),
]);
const delivery = z.looseObject({
  ...{ id: text, to: text, createdAt: number, attempts: number, note: text.nullable() },
  channel: z.enum(['email', 'sms']),
  state: z.enum(['waiting', 'delivered', 'refused', 'parked', 'expired']),
  nextAt: number.nullable(),
  finishedAt: number.nullable(),
  canRetry: z.boolean(),
});
const messages = z.looseObject({
  inboxOnly: z.boolean(),
  mail: mail.nullable(),
  sms: sms.nullable(),
  desktop: z.boolean(),
  deliveries: z.array(delivery),
});

const seenRequest = z.looseObject({
  ...{ id: number, at: number, method: text, path: text, client: text.nullable(), status: number },
  ...{ durationMs: number, requestBytes: number, answerBytes: number },
  caller: z
    .looseObject({
      ...{ organizationId: text, userId: text, userName: text.nullable(), credentialId: text.nullable() },
    })
    .nullable(),
  activity: z.looseObject({ id: text, type: text, status: text }).nullable(),
  error: z.looseObject({ code: text, message: text, byPolicies: z.boolean() }).nullable(),
  steps: z.array(
    z.looseObject({
      check: z.enum([
        ...(['header', 'encoding', 'scheme', 'publicKey', 'body'] as const),
        ...(['signature', 'organization', 'credential', 'expiry', 'time'] as const),
      ]),
      outcome: z.enum(['passed', 'failed', 'skipped']),
      text,
      advice: text.nullable(),
    }),
  ),
});

const settings = z.looseObject({
  autoLock: z.looseObject({
    idleMinutes: number.nullable(),
    requestsKeepOpen: z.boolean(),
    onScreenLock: z.boolean(),
    onSuspend: z.boolean(),
  }),
  port: number.nullable(),
  network: z.boolean(),
  limits: number,
  startAtLogin: z.boolean().nullable(),
  updates: z.enum(['off', 'ask']).nullable(),
  desktop: z
    .looseObject({ reportsLock: z.boolean(), freezeShortcut: z.enum(['bound', 'taken', 'unknown']) })
    .nullable(),
});

const doors = z.array(
  z.looseObject({
    door: z.enum(doorNames),
    on: z.boolean(),
    problem: text.nullable(),
    programs: z.array(
      z.looseObject({
        ...{ name: text, publicKey: text, pairedAt: number },
        ...{
          socket: text.nullable(),
          waiting: number,
          expiresAt: number.nullable(),
          lastUsedAt: number.nullable(),
        },
      }),
    ),
    nodes: z.array(
      z.looseObject({ chainId: text, chain: text, origin: text, previews: z.boolean().default(false) }),
    ),
  }),
);

/** The calls that commands make. */
export const answers = {
  status,
  lock: status,
  unlock: status,
  freeze: status,
  newRecoveryPhrase: z.looseObject({ phrase: text }),
  checkRows: z.array(finding),
  call: z.looseObject({ status: number, body: z.unknown() }),
  logState,
  exportLog: logPart,
  securityEvents: z.looseObject({ events: z.array(securityEvent) }),
  keyslots,
  changeKeyslots: keyslots,
  checkRecovery: keyslots,
  recoverySheet: z.array(sheet),
  backups,
  backUp: backup,
  verifyBackup: verified,
  scheduleBackups: backups,
  messages,
  changeMessages: messages,
  testMessages: z.looseObject({ note: text }),
  retryMessage: messages,
  requests: z.looseObject({ requests: z.array(seenRequest), total: number }),
  settings,
  changeSettings: settings,
  doors,
  changeDoors: z.object({ doors, token: z.string().nullable() }),
  prove: z.looseObject({ until: number }),
} as const satisfies { readonly [Name in RpcCall]?: z.ZodType<AnswerOf<Name>> };

/** The fields that a type names, without the index of a loose object. */
type Named<T> = T extends readonly (infer Each)[]
  ? readonly Named<Each>[]
  : T extends object
    ? { readonly [Key in keyof T as string extends Key ? never : Key]: Named<T[Key]> }
    : T;

/** Calls whose schema refuses a value that the contract allows: a command cannot name them. */
type TooNarrow = {
  [Name in keyof typeof answers]: AnswerOf<Name> extends Named<z.input<(typeof answers)[Name]>>
    ? never
    : Name;
}[keyof typeof answers];

export type CommandCall = Exclude<keyof typeof answers, TooNarrow>;

/** Makes one rpc call. */
export type Ask = <Name extends CommandCall>(
  name: Name,
  ...args: Parameters<VaultRpc[Name]>
) => Promise<AnswerOf<Name>>;

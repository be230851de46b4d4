/**
 * Programs of the SSH agent: what each may sign. The command and the window create a program's policies here, and the agent
 * reads from them which accounts it offers.
 */
import type { BotPolicy, PolicyText } from './bots.ts';

export interface SshProgram {
  readonly userId: string;
  /** Of private keys. */
  readonly tagId: string;
  /** Public keys of wallet accounts, in hex. */
  readonly accounts: readonly string[];
  /** Servers that may forward the agent, by the fingerprints of their keys. */
  readonly forwarders: readonly string[];
  /** The user who approves each signature; undefined where the program signs alone. */
  readonly approverId: string | undefined;
}

const isUser = (userId: string): string => `approvers.any(user, user.id == '${userId}')`;
const quotedList = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

/**
 * The policies of a program. One or two allow signatures for SSH. Two deny the rest, even if another policy allows it: like
 * those of bots, each denial reads only facts that every activity of its kind has.
 */
export function policiesOfSshProgram(name: string, program: SshProgram): readonly BotPolicy[] {
  const { userId, tagId, accounts, forwarders, approverId } = program;
  const isProgram = `submitter.id == '${userId}'`;
  const way =
    forwarders.length === 0 ? 'ssh.forwarded == false' : `ssh.via.all(key, key in ${quotedList(forwarders)})`;
  const purpose = "(ssh.purpose == 'LOGIN' || ssh.purpose == 'SIGNATURE')";
  const allowed = [
    ['signs with tagged keys', `private_key.tags.contains('${tagId}')`],
    ...(accounts.length > 0
      ? [['signs with wallet accounts', `signing_key.public_key in ${quotedList(accounts)}`] as const]
      : []),
  ] as const;
  const consensus = approverId === undefined ? isUser(userId) : `${isUser(userId)} && ${isUser(approverId)}`;
  return [
    {
      policyName: `SSH ${name}: nothing but signatures`,
      effect: 'EFFECT_DENY',
      condition: `submitter.id != '${userId}' || activity.kind != 'SIGN_RAW_PAYLOAD'`,
      consensus: isUser(userId),
      notes: '',
    },
    ...allowed.map(([rule, key]) => ({
      policyName: `SSH ${name}: ${rule}`,
      effect: 'EFFECT_ALLOW' as const,
      condition: `${isProgram} && ${purpose} && ${way} && ${key}`,
      consensus,
      notes: '',
    })),
  ];
}

/** @returns the public keys of the accounts that a user's allowing policies name. */
export const sshAccountsOf = (
  userId: string,
  policies: readonly Pick<PolicyText, 'effect' | 'condition'>[],
): readonly string[] =>
  policies.flatMap(({ effect, condition }) => {
    const isOwn = condition.startsWith(`submitter.id == '${userId}' && `);
    const [, list = ''] = /signing_key\.public_key in \[([^\]]*)\]/.exec(condition) ?? [];
    return effect === 'EFFECT_ALLOW' && isOwn ? (list.match(/[0-9a-f]{64,66}/g) ?? []) : [];
  });

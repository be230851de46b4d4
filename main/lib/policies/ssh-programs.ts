/**
 * Programs of the SSH agent: what each may sign. The command and the window create a program's policies here, and the agent
 * reads from them which accounts it offers.
 */
import type { ProgramPolicy, PolicyText } from './spenders.ts';
import type { DoorKind, PairedProgram } from './door-kind.ts';

const isUser = (userId: string): string => `approvers.any(user, user.id == '${userId}')`;
const quotedList = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(', ')}]`;

/**
 * The policies of a program. One or two allow signatures for SSH. The others deny the rest, even if another policy allows it.
 *
 * A denial does not match if a fact that it reads is missing. So each reads facts that its requests have: for any request that
 * the agent sends, and any vote of the program, one of them matches.
 */
export function policiesOfSshProgram(name: string, program: PairedProgram): readonly ProgramPolicy[] {
  const { userId, tagId, accounts, forwarders, approverId } = program;
  const isProgram = `submitter.id == '${userId}'`;
  const way =
    forwarders.length === 0 ? 'ssh.forwarded == false' : `ssh.via.all(key, key in ${quotedList(forwarders)})`;
  const isTagged = `private_key.tags.contains('${tagId}')`;
  const isNamed = `signing_key.public_key in ${quotedList(accounts)}`;
  const consensus = approverId === undefined ? isUser(userId) : `${isUser(userId)} && ${isUser(approverId)}`;
  const denials = [
    ['nothing but signatures', `submitter.id != '${userId}' || activity.kind != 'SIGN_RAW_PAYLOAD'`],
    ['no other way', `${isProgram} && !(${way})`],
    ['no other private key', `${isProgram} && !${isTagged}`],
    ['no other account', `${isProgram} && wallet.id != ''${accounts.length > 0 ? ` && !(${isNamed})` : ''}`],
  ];
  const allowed = [
    ['signs with tagged keys', isTagged],
    ...(accounts.length > 0 ? [['signs with wallet accounts', isNamed]] : []),
  ];
  return [
    ...denials.map(([rule = '', condition = '']) => ({
      policyName: `${sshTitle(name)}: ${rule}`,
      effect: 'EFFECT_DENY' as const,
      condition,
      consensus: isUser(userId),
      notes: '',
    })),
    ...allowed.map(([rule = '', key = '']) => ({
      policyName: `${sshTitle(name)}: ${rule}`,
      effect: 'EFFECT_ALLOW' as const,
      condition: `${isProgram} && (ssh.purpose == 'LOGIN' || ssh.purpose == 'SIGNATURE') && ${way} && ${key}`,
      consensus,
      notes: '',
    })),
  ];
}

function readSshProgram(userId: string, policies: readonly PolicyText[]): PairedProgram | undefined {
  const allowing = policies.filter(({ effect }) => effect === 'EFFECT_ALLOW');
  const conditions = allowing.map(({ condition }) => condition).join('\n');
  const [, tagId] = /private_key\.tags\.contains\('([0-9a-f-]{36})'\)/.exec(conditions) ?? [];
  if (tagId === undefined) return undefined;
  const [, forwarders = ''] = /ssh\.via\.all\(key, key in \[([^\]]*)\]\)/.exec(conditions) ?? [];
  const approvers = allowing.flatMap(({ consensus }) => consensus.match(/[0-9a-f-]{36}/g) ?? []);
  return {
    userId,
    tagId,
    accounts: sshAccountsOf(userId, policies),
    forwarders: forwarders.match(/SHA256:[A-Za-z0-9+/]{43}/g) ?? [],
    spending: undefined,
    approverId: approvers.find((id) => id !== userId),
  };
}

const sshTitle = (name: string): string => `SSH ${name}`;

export const sshDoor: DoorKind = {
  policyTitle: sshTitle,
  words: {
    title: 'SSH and git',
    about: 'SSH clients and git ask for signatures by private keys with the tag ssh.',
    may: 'Signs SSH logins, git commits and files.',
    asks: 'Each waits for your approval.',
    ssh: 'Use with SSH',
    git: 'Sign with git',
    shell: 'Point a shell at the agent',
  },
  endpoint: undefined,
  keyTag: 'ssh',
  hasNodes: false,
  curves: ['CURVE_ED25519', 'CURVE_P256'],
  takes: ['accounts', 'forwarders'],
  policies: policiesOfSshProgram,
  screen: undefined,
  addedBy: 'keyhearth doors add',
  read: readSshProgram,
  setup: ({ name, address }) => [
    { what: 'ssh', text: `keyhearth ssh setup --program ${name}` },
    { what: 'git', text: `keyhearth git setup --program ${name}` },
    { what: 'shell', text: `export SSH_AUTH_SOCK='${address}'` },
  ],
};

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

/**
 * Programs of the Ethereum door: what each may sign. The command and the window create a program's policies here, and read from
 * them what the program may do.
 */
import type { DoorKind, PairedProgram, Spending } from './door-kind.ts';
import { transactionTypes } from './payments.ts';
import { periods, windowOf, type PolicyText, type ProgramPolicy } from './spenders.ts';

/**
 * The functions of tokens, and of Permit2, that move tokens of the caller or let others move them. Those that bring a signature
 * are among them: the account may have given it anywhere. So are those that give out to others what a token stands for.
 */
export const tokenFunctions: Readonly<Record<string, string>> = {
  'transfer(address,uint256)': '0xa9059cbb',
  'transferFrom(address,address,uint256)': '0x23b872dd',
  'approve(address,uint256)': '0x095ea7b3',
  'increaseAllowance(address,uint256)': '0x39509351',
  'increaseApproval(address,uint256)': '0xd73dd623',
  'burn(uint256)': '0x42966c68',
  'setApprovalForAll(address,bool)': '0xa22cb465',
  'safeTransferFrom(address,address,uint256)': '0x42842e0e',
  'safeTransferFrom(address,address,uint256,bytes)': '0xb88d4fde',
  'safeTransferFrom(address,address,uint256,uint256,bytes)': '0xf242432a',
  'safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)': '0x2eb2c2d6',
  'send(address,uint256,bytes)': '0x9bd9bbc6',
  'operatorSend(address,address,uint256,bytes,bytes)': '0x62ad1b83',
  'burn(uint256,bytes)': '0xfe9d9303',
  'authorizeOperator(address)': '0x959b8c3f',
  'transferAndCall(address,uint256)': '0x1296ee62',
  'transferAndCall(address,uint256,bytes)': '0x4000aea0',
  'transferFromAndCall(address,address,uint256)': '0xd8fbe994',
  'transferFromAndCall(address,address,uint256,bytes)': '0xc1d34b89',
  'approveAndCall(address,uint256)': '0x3177029f',
  'approveAndCall(address,uint256,bytes)': '0xcae9ca51',
  'setOperator(address,bool)': '0x558a7297',
  'approve(address,uint256,uint256)': '0x426a8493',
  'transfer(address,uint256,uint256)': '0x095bcdb6',
  'transferFrom(address,address,uint256,uint256)': '0xfe99049a',
  'approve(uint256,address,uint256)': '0x8cb0a511',
  'transferFrom(uint256,address,uint256)': '0x0f485c02',
  'transferFrom(uint256,uint256,uint256)': '0x310ed7f0',
  'transferShares(address,uint256)': '0x8fcb4e5b',
  'transferSharesFrom(address,address,uint256)': '0x6d780459',
  'withdraw(uint256,address,address)': '0xb460af94',
  'redeem(uint256,address,address)': '0xba087652',
  'withdrawTo(address,uint256)': '0x205c2878',
  'approveDelegation(address,uint256)': '0xc04a8a10',
  'allow(address,bool)': '0x110496e5',
  'transferAsset(address,address,uint256)': '0x439e2e45',
  'transferAssetFrom(address,address,address,uint256)': '0xc1ee2c18',
  'withdrawTo(address,address,uint256)': '0xc3b35a7e',
  'withdrawFrom(address,address,address,uint256)': '0x26441318',
  'approve(address,address,uint160,uint48)': '0x87517c45',
  'transferFrom(address,address,uint160,address)': '0x36c78516',
  'transferFrom((address,address,uint160,address)[])': '0x0d58b1db',
  'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)': '0xd505accf',
  'permit(address,address,uint256,uint256,bytes)': '0x9fd5a6cf',
  'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)': '0x8fcbaf0c',
  'permit(address,uint256,uint256,uint8,bytes32,bytes32)': '0x7ac2ff7b',
  'permitForAll(address,address,uint256,uint256,bytes)': '0xb79269ee',
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)':
    '0xe3ee160e',
  'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)': '0xcf092995',
  'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)':
    '0xef55bec6',
  'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)': '0x88b7ab63',
  'delegationWithSig(address,address,uint256,uint256,uint8,bytes32,bytes32)': '0x0b52d558',
  'allowBySig(address,address,bool,uint256,uint256,uint8,bytes32,bytes32)': '0xbb24d994',
  'permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)': '0x2b67b570',
  'permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)': '0x2a2d80d1',
  'permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)': '0x30f28b7a',
  'permitTransferFrom(((address,uint256)[],uint256,uint256),(address,uint256)[],address,bytes)': '0xedd9444b',
  'permitWitnessTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes32,string,bytes)':
    '0x137c29fe',
  'permitWitnessTransferFrom(((address,uint256)[],uint256,uint256),(address,uint256)[],address,bytes32,string,bytes)':
    '0xfe8ec1a7',
};

const isUser = (userId: string): string => `approvers.any(user, user.id == '${userId}')`;
const quotedList = (texts: readonly string[]): string => `[${texts.map((text) => `'${text}'`).join(', ')}]`;
const calls = 'eth.tx.function_signature in ';
const noTokens = `${calls}${quotedList(Object.values(tokenFunctions))}`;

/**
 * The policies of a program. One allows transactions within the budget; with an approver, two more allow what is beyond it, and
 * messages, once the approver agrees. The others deny the rest, even if another policy allows it.
 *
 * A denial does not match if a fact that it reads is missing. So each asks first for the kind of activity that has its facts.
 */
export function policiesOfEthereumProgram(name: string, program: PairedProgram): readonly ProgramPolicy[] {
  const { userId, spending, approverId } = program;
  if (spending === undefined) throw new Error('a program of this door has a budget');
  const { walletId, chainIds, receivers, tokens, budget } = spending;
  const isProgram = `submitter.id == '${userId}'`;
  const sends = `${isProgram} && activity.kind == 'SIGN_TRANSACTION'`;
  const transaction = [
    `eth.tx.chain_id in [${chainIds.join(', ')}]`,
    transactionTypes,
    ...(receivers.length === 0 ? [] : [`eth.tx.to in ${quotedList(receivers)}`]),
  ].join(' && ');
  const own = isUser(userId);
  const denials: readonly (readonly [string, string])[] = [
    [
      'nothing but signatures',
      `submitter.id != '${userId}' || !(activity.kind in ['SIGN_TRANSACTION', 'SIGN_RAW_PAYLOAD'])`,
    ],
    ['no private key', `${isProgram} && private_key.tags.count() >= 0`],
    ['no other wallet', `${isProgram} && wallet.id != '${walletId}'`],
    ['no other kind of chain', `${sends} && activity.params.type != 'TRANSACTION_TYPE_ETHEREUM'`],
    ['no other transaction', `${sends} && !(${transaction})`],
    ...(tokens ? [] : [['no tokens', `${sends} && ${noTokens}`] as const]),
  ];
  const { amount, period } = budget;
  const allowed: readonly (readonly [string, string, string])[] = [
    [
      `budget of each ${period}`,
      `${sends} && ${transaction} && RollingSum(eth.tx.outflow, '${windowOf(period)}', submitter.id) <= ${String(amount)}`,
      own,
    ],
    ...(approverId === undefined
      ? []
      : ([
          ['beyond the budget', `${sends} && ${transaction}`, `${own} && ${isUser(approverId)}`],
          [
            'messages',
            `${isProgram} && activity.kind == 'SIGN_RAW_PAYLOAD' && wallet.id == '${walletId}'`,
            `${own} && ${isUser(approverId)}`,
          ],
        ] as const)),
  ];
  const policyOf =
    (effect: ProgramPolicy['effect']) =>
    ([rule, condition, consensus = own]: readonly [string, string, string?]): ProgramPolicy => ({
      policyName: `${ethereumTitle(name)}: ${rule}`,
      effect,
      condition,
      consensus,
      notes: '',
    });
  return [...denials.map(policyOf('EFFECT_DENY')), ...allowed.map(policyOf('EFFECT_ALLOW'))];
}

function readEthereumProgram(userId: string, policies: readonly PolicyText[]): PairedProgram | undefined {
  const allowing = policies.filter(({ effect }) => effect === 'EFFECT_ALLOW');
  const approvers = allowing.flatMap(({ consensus }) => consensus.match(/[0-9a-f-]{36}/g) ?? []);
  const spending = readSpending(policies);
  return (
    spending && {
      userId,
      tagId: '',
      accounts: [],
      forwarders: [],
      spending,
      approverId: approvers.find((id) => id !== userId),
    }
  );
}

function readSpending(policies: readonly PolicyText[]): Spending | undefined {
  const conditions = policies.map(({ condition }) => condition).join('\n');
  const [, walletId] = /wallet\.id != '([0-9a-f-]{36})'/.exec(conditions) ?? [];
  const [, chains] = /eth\.tx\.chain_id in \[([0-9, ]+)\]/.exec(conditions) ?? [];
  const [, window, wei] = /'([0-9]+[hd])', submitter\.id\) <= ([0-9]+)$/m.exec(conditions) ?? [];
  const period = periods.find((each) => windowOf(each) === window);
  if (walletId === undefined || chains === undefined || wei === undefined || period === undefined) return;
  const [, receivers = ''] = /eth\.tx\.to in \[([^\]]*)\]/.exec(conditions) ?? [];
  return {
    walletId,
    chainIds: chains.split(', ').map(BigInt),
    budget: { tokens: [], amount: BigInt(wei), period },
    receivers: receivers.match(/0x[0-9a-fA-F]{40}/g) ?? [],
    // An earlier list has fewer of them.
    tokens: !conditions.includes(calls),
  };
}

const ethereumTitle = (name: string): string => `Ethereum ${name}`;

export const ethereumDoor: DoorKind = {
  policyTitle: ethereumTitle,
  words: {
    title: 'Ethereum tools',
    about: 'Foundry, Hardhat, viem, ethers, web3 and geth ask for signatures over JSON-RPC.',
    may: 'Sends transactions of one wallet, within a budget.',
    asks: 'What is beyond the budget, and messages, wait for your approval.',
    cast: 'Use with cast',
    foundry: 'In foundry.toml, under [rpc_endpoints]',
    hardhat: 'In hardhat.config, under networks',
    geth: 'Use with geth',
  },
  endpoint: 'rpc',
  keyTag: undefined,
  hasNodes: true,
  curves: ['CURVE_SECP256K1'],
  takes: ['spending'],
  policies: policiesOfEthereumProgram,
  screen: undefined,
  addedBy: 'keyhearth rpc add',
  read: readEthereumProgram,
  setup: ({ address, token }) => {
    const url = `${address}/${token}`;
    return [
      { what: 'cast', text: `export ETH_RPC_URL='${url}'` },
      { what: 'foundry', text: `keyhearth = "${url}"` },
      { what: 'hardhat', text: `keyhearth: { type: 'http', url: '${url}', accounts: 'remote' },` },
      { what: 'geth', text: `geth --signer '${url}'` },
    ];
  },
};

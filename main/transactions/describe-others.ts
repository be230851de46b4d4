/** Transactions of Solana, Tron and Bitcoin in plain language. */
import { toHex } from '../crypto/encodings.ts';
import { written } from './arguments.ts';
import type { BitcoinTransaction } from './bitcoin.ts';
import { cut, line, mostParts, type Description, type Line, type Part } from './description.ts';
import { readInstructionBy, type Idl } from './idl.ts';
import { utf8 } from './reading.ts';
import { decimal, knownInstruction, priorityFee, programName } from './solana-programs.ts';
import { lookedUp, type SolanaInstruction, type SolanaTransaction } from './solana.ts';
import type { TronContract, TronPermission, TronTransaction } from './tron.ts';

/** What a transaction that does several things is called by. */
function titleOf(parts: readonly Part[], quiet: (part: Part) => boolean): string {
  const telling = parts.filter((part) => !quiet(part));
  const [first] = telling.length > 0 ? telling : parts;
  if (first === undefined) return 'Do nothing';
  const others = telling.length - 1;
  return others > 0 ? `${first.title}, and ${String(others)} more` : first.title;
}

const solOf = (lamports: bigint): string => `${decimal(lamports, 9)} SOL`;

/** @param interfaceOf Answers the interface of a program, where one is kept. */
export function describeSolana(
  transaction: SolanaTransaction,
  interfaceOf: (program: string) => Idl | undefined,
): Description {
  const { accounts, instructions, lookups, recentBlockhash } = transaction;
  const warnings: string[] = [];
  const parts = instructions.slice(0, mostParts).map((instruction): Part => {
    const { part, warning } = instructionPart(instruction, interfaceOf(instruction.program));
    if (warning !== undefined) warnings.push(warning);
    return part;
  });
  if (instructions.length > mostParts) {
    warnings.push(`${String(instructions.length - mostParts)} more instructions are not shown.`);
  }
  if (lookups.length > 0) {
    warnings.push('Some accounts are looked up in tables on the chain: which they are is not known here.');
  }
  const signers = accounts.filter(({ signer }) => signer);
  const base = 5000n * BigInt(signers.length);
  return {
    title: titleOf(parts, ({ title }) =>
      /^(Use at most|Pay [0-9]+ microlamports|Set a limit|Memo)/.test(title),
    ),
    lines: [
      line('Network', 'Solana: it does not say which'),
      line('Pays the fee', accounts[0]?.key ?? ''),
      line('Fee at most', solOf(base + (priorityFee(transaction) ?? 0n))),
      ...signers.slice(1).map(({ key }) => line('Signs too', key)),
      line('Recent blockhash', recentBlockhash),
    ],
    parts,
    warnings: [...new Set(warnings)],
    digests: [],
  };
}

function instructionPart(
  instruction: SolanaInstruction,
  idl: Idl | undefined,
): { readonly part: Part; readonly warning?: string | undefined } {
  const { program, accounts, data } = instruction;
  const known = knownInstruction(instruction);
  if (known) {
    const { title, facts, warning } = known;
    return { part: { title, lines: facts.map(([label, value]) => line(label, cut(value))) }, warning };
  }
  const name = programName(program) ?? program;
  const read = idl && readInstructionBy(idl, instruction);
  if (read?.ok) {
    const { name: called, args, accounts: named } = read.value;
    return {
      part: {
        title: `Call ${called} of ${name}`,
        lines: [
          ...args.map((argument) => line(argument.name, cut(written(argument.value)))),
          ...Object.entries(named).map(([label, key]) => line(label, key)),
        ],
      },
    };
  }
  return {
    part: {
      title: `Call ${name}`,
      lines: [
        line('Data', data.length === 0 ? 'None' : cut(toHex(data))),
        ...accounts
          .slice(0, mostParts)
          .map(({ key, lookup }, index) =>
            line(
              `Account ${String(index + 1)}`,
              lookup === undefined ? key : `${lookedUp}: ${String(lookup.index)} of ${lookup.table}`,
            ),
          ),
      ],
    },
    warning: 'A program is called with data that nothing here can read: what it does is not known.',
  };
}

const trxOf = (sun: bigint): string => `${decimal(sun, 6)} TRX`;

/** @param unread What was there and is not understood. */
export function describeTron(transaction: TronTransaction, unread: readonly string[]): Description {
  const parts = transaction.contracts.map((contract): Part => ({
    title: contractTitle(contract),
    lines: contractLines(contract),
  }));
  const memo = transaction.data === '' ? undefined : utf8(Buffer.from(transaction.data, 'hex'));
  return {
    title: titleOf(parts, () => false),
    lines: [
      line('Network', 'Tron: it does not say which'),
      line('From', transaction.contracts[0]?.ownerAddress ?? 'Not read'),
      ...(transaction.feeLimit > 0n ? [line('Fee at most', trxOf(transaction.feeLimit))] : []),
      line('Expires', timeOf(transaction.expiration)),
      ...(transaction.data === '' ? [] : [line('Memo', cut(memo ?? transaction.data))]),
    ],
    parts,
    warnings: [
      ...(unread.length > 0 ? [`Not all of it can be read: ${cut(unread.join(', '))}.`] : []),
      ...transaction.contracts.flatMap(({ type }) =>
        type === 'AccountPermissionUpdateContract'
          ? ['Whoever gets a permission can sign for the account; who has none left cannot.']
          : [],
      ),
    ],
    digests: [],
  };
}

/** Milliseconds since 1970, or the number where that is no time. */
function timeOf(milliseconds: bigint): string {
  const date = new Date(Number(milliseconds));
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString();
}

function contractTitle({ type, ...contract }: TronContract): string {
  const resource = contract.resource?.toLowerCase() ?? '';
  switch (type) {
    case 'TransferContract':
      return `Send ${trxOf(contract.amount ?? 0n)} to ${contract.toAddress ?? ''}`;
    case 'TransferAssetContract':
      return `Send ${String(contract.amount ?? 0n)} of the token ${contract.assetName ?? ''} to ${contract.toAddress ?? ''}`;
    case 'TriggerSmartContract':
      return `Call the contract ${contract.contractAddress ?? ''}`;
    case 'FreezeBalanceV2Contract':
      return `Stake ${trxOf(contract.frozenBalance ?? 0n)} for ${resource}`;
    case 'UnfreezeBalanceV2Contract':
      return `Unstake ${trxOf(contract.unfreezeBalance ?? 0n)} from ${resource}`;
    case 'DelegateResourceContract':
      return `Lend ${resource} of ${trxOf(contract.balance ?? 0n)} to ${contract.receiverAddress ?? ''}`;
    case 'UnDelegateResourceContract':
      return `Take back ${resource} of ${trxOf(contract.balance ?? 0n)} from ${contract.receiverAddress ?? ''}`;
    case 'AccountPermissionUpdateContract':
      return `Change who may sign for ${contract.ownerAddress ?? ''}`;
    default:
      return `Do a ${type}`;
  }
}

function contractLines({
  callValue,
  data,
  callTokenValue,
  tokenId,
  lock,
  lockPeriod,
  ...contract
}: TronContract): Line[] {
  const permissions: readonly (TronPermission | undefined)[] = [
    contract.owner,
    contract.witness,
    ...(contract.actives ?? []),
  ];
  return [
    ...(callValue === undefined ? [] : [line('Amount', trxOf(callValue))]),
    ...(callTokenValue === undefined || callTokenValue === 0n
      ? []
      : [line('Tokens', `${String(callTokenValue)} of token ${String(tokenId ?? 0n)}`)]),
    ...(data === undefined ? [] : [line('Data', data === '' ? 'None' : cut(data))]),
    ...tokenCall(data ?? ''),
    ...(lock === true ? [line('Locked for', `${String(lockPeriod ?? 0n)} blocks`)] : []),
    ...(contract.permissionId === 0n ? [] : [line('Signed by permission', contract.permissionId)]),
    ...permissions.flatMap((permission) =>
      permission === undefined
        ? []
        : [
            line(
              `${permission.type} permission ${permission.permissionName}`,
              `${String(permission.threshold)} of ${permission.keys.map(({ address, weight }) => `${address} (${String(weight)})`).join(', ')}`,
            ),
          ],
    ),
  ];
}

/** A token's transfer, which is Ethereum's: the selector, the last 20 bytes of a word, a number. */
function tokenCall(data: string): Line[] {
  if (!data.startsWith('a9059cbb') || data.length < 136) return [];
  return [
    line('Reads as', 'a transfer of tokens'),
    line('To', `41${data.slice(32, 72)} (in hex)`),
    line('Amount of tokens', `${String(BigInt(`0x${data.slice(72, 136)}`))} smallest units`),
  ];
}

const btcOf = (satoshis: bigint): string => `${decimal(satoshis, 8)} BTC`;

/** @param faults Why it is not signed. */
export function describeBitcoin(
  { inputs, outputs, fee, lockTime }: BitcoinTransaction,
  faults: readonly string[],
): Description {
  const own = new Set(inputs.map(({ address }) => address).filter((address) => address !== ''));
  const paid = outputs.filter(({ address }) => !own.has(address));
  const parts = outputs.slice(0, mostParts).map(({ value, address, script }): Part => {
    const data = script.startsWith('6a');
    const back = own.has(address) ? ', back to where it came from' : '';
    return {
      title: data
        ? 'Write data into the chain'
        : `Send ${btcOf(value)} to ${address === '' ? 'a script without an address' : address}${back}`,
      lines: data || address === '' ? [line('Script', cut(script))] : [],
    };
  });
  const total = paid.reduce((sum, { value }) => sum + value, 0n);
  const [only] = paid;
  return {
    title:
      paid.length === 1 && only !== undefined && only.address !== ''
        ? `Send ${btcOf(only.value)} to ${only.address}`
        : `Send ${btcOf(total)} to ${String(paid.length)} outputs`,
    lines: [
      line('Network', 'Bitcoin, or a test network of it'),
      line('Fee', fee === undefined ? 'Not known: it does not say what its inputs are worth' : btcOf(fee)),
      ...inputs
        .slice(0, mostParts)
        .map(({ txId, vout, value, address }, index) =>
          line(
            `Input ${String(index + 1)}`,
            `${value === undefined ? 'unknown' : btcOf(value)} from ${address === '' ? `${txId}:${String(vout)}` : address}`,
          ),
        ),
      ...(lockTime === 0
        ? []
        : [
            line(
              'Not before',
              lockTime < 500_000_000 ? `block ${String(lockTime)}` : timeOf(BigInt(lockTime) * 1000n),
            ),
          ]),
    ],
    parts,
    warnings: [
      ...faults.map((fault) => `It is not signed as it is: ${fault}.`),
      ...(fee !== undefined && fee > 0n && total > 0n && fee * 4n > total
        ? ['The fee is more than a quarter of what is sent.']
        : []),
      ...(outputs.length > mostParts
        ? [`${String(outputs.length - mostParts)} more outputs are not shown.`]
        : []),
    ],
    digests: [],
  };
}

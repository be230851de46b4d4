/** Tron's transactions in plain language. */
import { decimal } from '../amounts.ts';
import { cut, line, timeOf, titleOfParts, type Description, type Line, type Part } from '../description.ts';
import { utf8 } from '../reading.ts';
import type { TronContract, TronPermission, TronTransaction } from './read.ts';

const trxOf = (sun: bigint): string => `${decimal(sun, 6)} TRX`;

/** @param unread What was there and is not understood. */
export function describeTron(transaction: TronTransaction, unread: readonly string[]): Description {
  const parts = transaction.contracts.map((contract): Part => ({
    title: contractTitle(contract),
    lines: contractLines(contract),
  }));
  const memo = transaction.data === '' ? undefined : utf8(Buffer.from(transaction.data, 'hex'));
  return {
    title: titleOfParts(parts, () => false),
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

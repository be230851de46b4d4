/** Assets that move by the events of a simulation, as far as they concern the account that signs. */
import { checksumAddress } from '../chains/addresses/ethereum.ts';
import { coinsOf, networkOf, tokenChainOf } from '../chains/ethereum/networks.ts';
import { bytesOfHex, hexOf } from '../chains/ethereum/hex.ts';
import { isUnlimited } from '../chains/ethereum/standard-calls.ts';
import { tokenAmount, tokenAt } from '../chains/tokens.ts';
import { keccak256 } from '../crypto/hashes.ts';
import { defined } from '../lib/defined.ts';
import type { Previewable, PreviewAsset, PreviewMoves } from '../lib/web/previews.ts';

/** In hex. */
export interface EventLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

const topicOf = (signature: string): string => hexOf(keccak256(Buffer.from(signature, 'utf8')));

/** Of ERC-20 and ERC-721, which differ in the number of topics; the last three of ERC-1155. */
const topics = {
  transfer: topicOf('Transfer(address,address,uint256)'),
  approval: topicOf('Approval(address,address,uint256)'),
  approvalForAll: topicOf('ApprovalForAll(address,address,bool)'),
  transferSingle: topicOf('TransferSingle(address,address,address,uint256,uint256)'),
  transferBatch: topicOf('TransferBatch(address,address,address,uint256[],uint256[])'),
};

/** The contract that `traceTransfers` writes for coins. */
const coinContract = `0x${'e'.repeat(40)}`;

/** As a spender: an approval that is taken back. */
const nobody = `0x${'0'.repeat(40)}`;

/** Of each list. */
const mostShown = 50;

interface Change {
  readonly kind: 'transfer' | 'approval' | 'approval for all';
  /** The owner, of an approval. */
  readonly from: string;
  /** The spender, of an approval. */
  readonly to: string;
  readonly tokenId?: bigint;
  /** Undefined for all tokens of the contract. */
  readonly units: bigint | undefined;
}

interface Holding {
  readonly contract: string;
  readonly tokenId: bigint | undefined;
  readonly units: bigint | undefined;
}

/** @returns what moves, and how many coins leave the account. */
export function movesIn(
  logs: readonly EventLog[],
  { from: account, chainId }: Pick<Previewable, 'from' | 'chainId'>,
): { readonly moves: PreviewMoves; readonly coins: bigint } {
  const own = account.toLowerCase();
  const leaves = new Map<string, Holding>();
  const arrives = new Map<string, Holding>();
  const allows = new Map<string, Holding & { readonly spender: string }>();
  let unread = 0;
  for (const log of logs) {
    const contract = log.address.toLowerCase();
    const changes = changesOf(log);
    if (changes === undefined) unread += 1;
    for (const { kind, from, to, tokenId, units } of changes ?? []) {
      const key = `${contract} ${kind} ${String(tokenId)}`;
      const add = (list: typeof leaves): void => {
        list.set(key, { contract, tokenId, units: (list.get(key)?.units ?? 0n) + (units ?? 0n) });
      };
      // The last of its kind holds.
      if (kind !== 'transfer' && from === own && to !== nobody) {
        allows.set(`${key} ${to}`, { contract, tokenId, units, spender: to });
      }
      if (kind === 'transfer' && from === own) add(leaves);
      if (kind === 'transfer' && to === own) add(arrives);
    }
  }
  const shown = ({ contract, tokenId, units }: Holding) => assetOf(chainId, contract, tokenId, units);
  const isKnown = ({ contract }: Holding): boolean =>
    contract === coinContract || tokenAt(tokenChainOf(chainId), checksum(contract)) !== undefined;
  let left = 0;
  /** Known assets come first: a contract that writes many events hides none of them. */
  const first = <Of extends Holding>(list: ReadonlyMap<string, Of>): readonly Of[] => {
    const all = [...list.values()].filter(({ units }) => units !== 0n);
    left += Math.max(0, all.length - mostShown);
    return [...all.filter(isKnown), ...all.filter((each) => !isKnown(each))].slice(0, mostShown);
  };
  const moves = {
    leaves: first(leaves).map(shown),
    arrives: first(arrives).map(shown),
    allows: first(allows).map((each) => {
      const { text, ...rest } = shown(each);
      const { units, tokenId } = each;
      const isAny = units !== undefined && tokenId === undefined && isUnlimited(units);
      return { text: isAny ? `any amount: ${text}` : text, ...rest, spender: checksum(each.spender) };
    }),
  };
  return {
    coins: leaves.get(`${coinContract} transfer undefined`)?.units ?? 0n,
    moves: { ...moves, left, unread },
  };
}

/** @returns undefined for an event of a token that is not written as its standard has it. */
function changesOf({ topics: [named, ...indexed], data }: EventLog): readonly Change[] | undefined {
  const kind = named?.toLowerCase();
  const words = (bytesOfHex(data).length % 32 === 0 ? data.slice(2).match(/.{64}/g) : undefined) ?? [];
  const [first, second, third] = indexed.map(accountOf);
  const number = (index: number): bigint | undefined =>
    words[index] === undefined ? undefined : BigInt(`0x${words[index]}`);
  switch (kind) {
    case topics.transfer:
    case topics.approval: {
      if (first === undefined || second === undefined) return undefined;
      const isSingle = indexed.length === 3;
      const units = isSingle ? 1n : number(0);
      if (units === undefined || words.length !== (isSingle ? 0 : 1)) return undefined;
      const of = { units, ...(isSingle && { tokenId: BigInt(indexed[2] ?? '0x0') }) };
      return [{ kind: kind === topics.transfer ? 'transfer' : 'approval', from: first, to: second, ...of }];
    }
    case topics.approvalForAll: {
      const isOn = number(0);
      if (first === undefined || second === undefined || isOn === undefined) return undefined;
      const units = isOn === 0n ? 0n : undefined;
      return [{ kind: 'approval for all', from: first, to: second, units }];
    }
    case topics.transferSingle: {
      const [tokenId, units] = [number(0), number(1)];
      if (second === undefined || third === undefined || tokenId === undefined || units === undefined) {
        return undefined;
      }
      return [{ kind: 'transfer', from: second, to: third, tokenId, units }];
    }
    case topics.transferBatch: {
      const [ids, amounts] = [listAt(words, number(0)), listAt(words, number(1))];
      if (second === undefined || third === undefined || ids?.length !== amounts?.length) return undefined;
      return ids?.map((tokenId, index) => ({
        ...{ kind: 'transfer', from: second, to: third, tokenId },
        units: amounts?.[index] ?? 0n,
      }));
    }
    default:
      return [];
  }
}

/** @returns undefined for a word that is not an address. */
const accountOf = (word: string): string | undefined =>
  /^0x0{24}/.test(word) ? `0x${word.slice(26).toLowerCase()}` : undefined;

/** A list of numbers, by where it begins in bytes. */
function listAt(words: readonly string[], offset: bigint | undefined): readonly bigint[] | undefined {
  const start = offset === undefined || offset % 32n !== 0n ? undefined : Number(offset / 32n);
  const length = start === undefined ? undefined : words[start];
  if (start === undefined || length === undefined) return undefined;
  const list = words.slice(start + 1, start + 1 + Number(BigInt(`0x${length}`)));
  return BigInt(list.length) === BigInt(`0x${length}`) ? list.map((word) => BigInt(`0x${word}`)) : undefined;
}

const checksum = (address: string): string => checksumAddress(bytesOfHex(address));

/** @param units Undefined for all tokens of the contract. */
function assetOf(
  chainId: bigint,
  address: string,
  tokenId: bigint | undefined,
  units: bigint | undefined,
): PreviewAsset {
  if (address === coinContract) {
    return { text: coinsOf(networkOf(chainId), units ?? 0n), units: String(units ?? 0n) };
  }
  const contract = checksum(address);
  const known = tokenAt(tokenChainOf(chainId), contract);
  const name = known?.symbol ?? `the token ${contract}`;
  const given = {
    contract,
    ...defined({
      units: units === undefined ? undefined : String(units),
      tokenId: tokenId === undefined ? undefined : String(tokenId),
    }),
  };
  if (units === undefined) return { text: `all of ${name}`, ...given };
  if (tokenId !== undefined) {
    const count = units === 1n ? '' : `${String(units)} times `;
    return { text: `${count}number ${String(tokenId)} of ${name}`, ...given };
  }
  return {
    text: known === undefined ? `${String(units)} units of ${name}` : tokenAmount(known, units),
    ...given,
  };
}

/**
 * Transactions that are sent: completed by the node, signed by the API, handed to the node. A row is kept of each, so that a
 * request whose caller missed the answer is the same transaction when it comes again, also after the process was killed.
 */
import { hash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { bytesOfHex, hexOf } from '../../chains/ethereum/hex.ts';
import { canonical, unsignedOf, type Wish } from '../../chains/ethereum/requests.ts';
import { keccak256 } from '../../crypto/hashes.ts';
import { KeyhearthError, type ErrorCodeName } from '../../lib/errors.ts';
import { SerialQueue } from '../../lib/concurrency/serial.ts';
import { rpcCodes, RpcError } from '../../lib/web/json-rpc.ts';
import { fill, nonceOf } from '../../nodes/fill.ts';
import { NoAnswer, type ChainNode } from '../../nodes/node.ts';
import type { UnitOfWork } from '../../storage/unit-of-work.ts';
import {
  deleteAsked,
  deleteTransaction,
  forgetTransactions,
  insertTransaction,
  listTransactions,
  markAnswered,
  markSent,
  type EthereumTransactionRow,
} from '../../storage/tables/ethereum-transactions.ts';
import { asksTransaction, signedIn } from '../asks.ts';
import { keyNameOf, type Gone, type Program } from '../program.ts';

/** A request of a program. */
export interface Sender {
  readonly program: Program;
  readonly node: ChainNode;
  readonly chainId: bigint;
  readonly gone: Gone;
  /** The IDs of its rows under way: released when the caller has the answer, or has gone. */
  readonly held: Set<string>;
}

const dayMs = 86_400_000;

/** The hash is kept with each transaction: a longer text of the node's is none. */
const blockWithHash = z.looseObject({ hash: z.string().regex(/^0x[0-9a-f]{1,64}$/i) });

export class Transactions {
  readonly #units: UnitOfWork;
  readonly #now: () => number;
  readonly #turns = new Map<string, SerialQueue>();
  /** The IDs of rows whose callers are still there: the same request again is another transaction. */
  readonly #underWay = new Set<string>();
  /** The IDs of rows whose callers have the answers, until the file says so: a locked vault writes nothing. */
  readonly #answered = new Set<string>();

  constructor(units: UnitOfWork, now: () => number) {
    this.#units = units;
    this.#now = now;
  }

  /** @returns the hash of the transaction. @throws RpcError or KeyhearthError. */
  async send(sender: Sender, wish: Wish): Promise<string> {
    const { node, program, chainId, gone } = sender;
    await node.check();
    const first = blockWithHash.safeParse(await node.ask('eth_getBlockByNumber', ['0x0', false])).data;
    // A test chain that is started again has the same number, and another first block.
    const chain = `${String(chainId)} ${String(first?.hash)}`;
    const account = `${chain} ${wish.from}`;
    const turn = this.#turns.get(account) ?? new SerialQueue(() => this.#turns.delete(account));
    this.#turns.set(account, turn);
    const request = hash('sha256', `${canonical(wish)} ${keyNameOf(program.door, program.name)}`);
    const go = async (row: EthereumTransactionRow, wait: boolean) => {
      this.#hold(sender, row.id);
      try {
        const signed = await this.#sign(sender, row, wait);
        return { row, hash: signed === undefined ? undefined : await this.#handOver(sender, row, signed) };
      } catch (error) {
        // An error names no hash: the same request again is this transaction.
        this.#letGo(sender, row.id);
        throw error;
      }
    };
    const begun = await turn.run(async () => {
      // Nothing was begun: others of the account need not wait for what no one does.
      if (gone.aborted) throw new KeyhearthError('UNAVAILABLE', `no one waits for ${program.name} any more`);
      const begin = async () => go(await this.#begin(sender, wish, chain, request), false);
      const row = await this.#repeated(sender, wish, chain, request);
      if (row === undefined) return begin();
      try {
        return await go(row, false);
      } catch (error) {
        // The process was killed before the API had the request, which comes too late by now: nothing was signed.
        if (error instanceof KeyhearthError && error.turnkeyErrorCode === 'INVALID_TIME') return begin();
        throw error;
      }
    });
    if (begun.hash !== undefined) return begun.hash;
    // Other transactions of the account need not wait for the votes.
    const { hash: sent } = await go(begun.row, true);
    if (sent !== undefined) return sent;
    this.#letGo(sender, begun.row.id);
    throw new KeyhearthError(
      'UNAVAILABLE',
      'the transaction still waits for approval: send the same request again, and it is not sent twice',
    );
  }

  /** @param delivered Whether the caller got the answers. */
  async release(held: Set<string>, delivered: boolean): Promise<void> {
    const ids = [...held];
    held.clear();
    if (delivered) for (const id of ids) this.#answered.add(id);
    try {
      await this.#markAnswered();
    } catch (error) {
      // The next payment writes it down.
      if (!(error instanceof KeyhearthError) || !isPassing(error)) throw error;
    } finally {
      for (const id of ids) this.#underWay.delete(id);
    }
  }

  async #markAnswered(): Promise<void> {
    const ids = [...this.#answered];
    if (ids.length === 0) return;
    await this.#units.write((tx) => {
      for (const id of ids) markAnswered(tx, id);
    });
    for (const id of ids) this.#answered.delete(id);
  }

  /** A caller that has gone holds nothing: no one would release it. */
  #hold({ gone, held }: Sender, id: string): void {
    if (gone.aborted) return;
    held.add(id);
    this.#underWay.add(id);
  }

  #letGo({ held }: Sender, id: string): void {
    if (held.delete(id)) this.#underWay.delete(id);
  }

  /** @returns the row of an earlier request for the same whose answer no one got. */
  async #repeated(
    sender: Sender,
    wish: Wish,
    chain: string,
    request: string,
  ): Promise<EthereumTransactionRow | undefined> {
    const row = this.#rows(chain, wish.from).find(
      (each) =>
        each.request === request &&
        each.state !== 'answered' &&
        !this.#answered.has(each.id) &&
        !this.#underWay.has(each.id),
    );
    if (row === undefined || row.state === 'sent' || wish.nonce !== undefined) return row;
    // It was never handed over. If another took its nonce, a new one is needed.
    if (BigInt(row.nonce) === (await this.#nextNonce(sender.node, chain, wish.from))) return row;
    const isDropped = await this.#units.write((tx) => deleteAsked(tx, row.id));
    // Else the earlier request handed it over meanwhile, and has taken the nonce itself.
    return isDropped ? undefined : this.#repeated(sender, wish, chain, request);
  }

  async #begin(
    { node, program, chainId }: Sender,
    wish: Wish,
    chain: string,
    request: string,
  ): Promise<EthereumTransactionRow> {
    const filled = await fill(node, wish);
    const nonce = wish.nonce ?? (await this.#nextNonce(node, chain, wish.from));
    const row: EthereumTransactionRow = {
      ...{ id: randomUUID(), program: keyNameOf(program.door, program.name), request, chain },
      ...{ address: wish.from, nonce: String(nonce), state: 'asked', hash: null },
      unsigned: unsignedOf({ ...filled, nonce }, chainId),
      createdAt: program.nextTimestamp(),
    };
    await this.#markAnswered();
    await this.#units.write((tx) => {
      forgetTransactions(tx, this.#now() - dayMs);
      insertTransaction(tx, row);
    });
    return row;
  }

  /**
   * The first that is free: one that was refused leaves a gap, which the next transaction fills. The node is asked about no
   * transaction beyond it: a program may have sent any number of them, with nonces of its own.
   */
  async #nextNonce(node: ChainNode, chain: string, address: string): Promise<bigint> {
    const first = await nonceOf(node, address);
    const rows = Map.groupBy(this.#rows(chain, address), (row) => BigInt(row.nonce));
    for (let nonce = first; ; nonce += 1n) {
      if (!(await this.#isTaken(node, rows.get(nonce) ?? []))) return nonce;
    }
  }

  async #isTaken(node: ChainNode, rows: readonly EthereumTransactionRow[]): Promise<boolean> {
    for (const { id, hash } of rows.toReversed()) {
      if (this.#underWay.has(id)) return true;
      if (hash !== null && (await node.ask('eth_getTransactionByHash', [hash])) !== null) return true;
    }
    return false;
  }

  #rows(chain: string, address: string): readonly EthereumTransactionRow[] {
    return this.#units.read((tx) => listTransactions(tx, chain, address));
  }

  /** @returns undefined where the transaction waits for votes. */
  async #sign(
    { program, gone }: Sender,
    { id, unsigned, address, createdAt, state }: EthereumTransactionRow,
    wait: boolean,
  ): Promise<string | undefined> {
    try {
      const { type, parameters } = asksTransaction(program, address, unsigned);
      const result = await program.submit(type, parameters, gone, { at: createdAt, wait });
      return result && signedIn(result);
    } catch (error) {
      // The node may have one that was sent, and the API the request for one that it was too busy to answer. A program whose door
      // was closed learns nothing of its request.
      if (state === 'asked' && !isPassing(error) && !program.isEnded) {
        await this.#units.write((tx) => deleteAsked(tx, id));
      }
      throw error;
    }
  }

  async #handOver({ node, program }: Sender, row: EthereumTransactionRow, signed: string): Promise<string> {
    const hash = hexOf(keccak256(bytesOfHex(signed)));
    // Before: a process that is killed now does not know whether the node has it.
    const isUnderWay = await this.#units.write((tx) => markSent(tx, row.id, hash));
    // Its owner may have ended the program since the signature.
    program.checkLetIn();
    if (!isUnderWay) {
      throw new KeyhearthError('PERMISSION_DENIED', 'the payment was ended meanwhile: it is not sent');
    }
    try {
      await node.ask('eth_sendRawTransaction', [signed]);
    } catch (error) {
      if (error instanceof NoAnswer) {
        throw new RpcError(
          rpcCodes.internal,
          `${error.message}. It may have the transaction ${hash}: send the same request again, and it is not sent twice`,
        );
      }
      // A node refuses what it has already.
      if ((await node.ask('eth_getTransactionByHash', [hash])) === null) {
        await this.#units.write((tx) => {
          deleteTransaction(tx, row.id);
        });
        throw error;
      }
    }
    return hash;
  }
}

const passing: ReadonlySet<ErrorCodeName> = new Set<ErrorCodeName>([
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
  'STORAGE_UNAVAILABLE',
  'INTERNAL',
  'VAULT_LOCKED',
  'VAULT_FROZEN',
]);

/** True for an error that says nothing of the request's outcome. */
const isPassing = (error: unknown): boolean => !(error instanceof KeyhearthError) || passing.has(error.code);

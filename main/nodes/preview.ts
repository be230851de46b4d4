/**
 * Asks a node what a transaction would do. The node may lie, and so may the contracts that it runs: its answer is data, with
 * bounds, and one that contradicts the transaction counts as none.
 */
import { z } from 'zod';
import { bytesOfHex } from '../chains/ethereum/hex.ts';
import { owned } from '../lib/faults.ts';
import { logFault } from '../lib/log.ts';
import { visibleLine } from '../lib/text/visible-text.ts';
import { RpcError } from '../lib/web/json-rpc.ts';
import type { Preview, Previewable } from '../lib/web/previews.ts';
import { upTo } from '../lib/text/up-to.ts';
import { movesIn, type EventLog } from './moves.ts';
import { NodeRefusal, type ChainNode } from './node.ts';

type Asked = Pick<ChainNode, 'ask' | 'check'>;

/** In characters, of the node's words. */
const longestSaid = 300;
const mostLogs = 1000;

/** By `eth_simulateV1` where the node has it, else by `eth_call`, which says less. */
export async function previewBy(node: Asked, wanted: Previewable): Promise<Preview> {
  try {
    await node.check();
    return (await simulate(node, wanted)) ?? (await call(node, wanted));
  } catch (error) {
    if (error instanceof NodeRefusal) return noAnswer('the node refuses', error.message);
    // These words are the vault's own.
    if (error instanceof RpcError) return noAnswer(error.message);
    throw error;
  }
}

/** A preview, or the statement that it is late. */
export async function inTime(preview: Promise<Preview>, ms: number): Promise<Preview> {
  const late = Promise.withResolvers<Preview>();
  const say = (): void => {
    late.resolve(noAnswer(`the node gives no answer within ${String(ms / 1000)} s`));
  };
  const timer = setTimeout(owned(say, logFault), ms);
  return Promise.race([preview, late.promise]).finally(() => {
    clearTimeout(timer);
  });
}

const noAnswer = (reason: string, said?: string): Preview => ({
  ...{ outcome: 'PREVIEW_OUTCOME_NO_ANSWER', reason },
  ...(said !== undefined && { said: shownWords(said) }),
});

/** Marked again after the cut, which may divide a character. */
const shownWords = (text: string): string => visibleLine(upTo(text, longestSaid));

const quantity = z
  .string()
  .regex(/^0x[0-9a-f]{1,64}$/i)
  .transform(BigInt);
const simulated = z
  .array(
    z.object({
      calls: z
        .array(
          z.object({
            status: z.enum(['0x0', '0x1']),
            gasUsed: quantity,
            returnData: z.string(),
            logs: z.array(z.unknown()).optional(),
            error: z.object({ message: z.string().optional(), data: z.unknown().optional() }).nullish(),
          }),
        )
        .length(1),
    }),
  )
  .length(1);
const log = z.object({
  address: z.string().regex(/^0x[0-9a-f]{40}$/i),
  topics: z.array(z.string().regex(/^0x[0-9a-f]{64}$/i)).max(4),
  data: z.string().regex(/^0x([0-9a-f]{2})*$/i),
});

/** @returns undefined where the node refuses: not each has the method. */
async function simulate(node: Asked, wanted: Previewable): Promise<Preview | undefined> {
  let answer;
  try {
    const blocks = { blockStateCalls: [{ calls: [wanted.call] }], traceTransfers: true };
    answer = await node.ask('eth_simulateV1', [blocks, 'latest']);
  } catch (error) {
    if (error instanceof NodeRefusal) return undefined;
    throw error;
  }
  const [block] = simulated.safeParse(answer).data ?? [];
  const [said] = block?.calls ?? [];
  if (said === undefined) return noAnswer('the node answers eth_simulateV1 otherwise than specified');
  if (said.gasUsed > wanted.gas) {
    return noAnswer('the node says that the transaction uses more gas than it allows');
  }
  const asked = { method: 'eth_simulateV1', gas: String(said.gasUsed) } as const;
  if (said.status === '0x0') {
    const { message = 'no reason', data = said.returnData } = said.error ?? {};
    return { outcome: 'PREVIEW_OUTCOME_FAILURE', ...asked, said: reasonOf(message, data) };
  }
  const { logs = [] } = said;
  if (logs.length > mostLogs) {
    return noAnswer(`the transaction has more than ${String(mostLogs)} events, which are not read`);
  }
  const events: EventLog[] = [];
  for (const each of logs) {
    const { data } = log.safeParse(each);
    if (data === undefined) return noAnswer('the node answers eth_simulateV1 otherwise than specified');
    events.push(data);
  }
  const { moves, coins } = movesIn(events, wanted);
  if (coins < wanted.value) return noAnswer('the node leaves out coins that the transaction itself sends');
  return { outcome: 'PREVIEW_OUTCOME_SUCCESS', ...asked, moves };
}

async function call(node: Asked, { call: { input, ...rest } }: Previewable): Promise<Preview> {
  const method = 'eth_call';
  try {
    // Older nodes know the second name alone.
    const returned = await node.ask(method, [{ ...rest, data: input }, 'latest']);
    return typeof returned === 'string' && /^0x[0-9a-f]*$/i.test(returned)
      ? { outcome: 'PREVIEW_OUTCOME_SUCCESS', method }
      : noAnswer('the node answers eth_call otherwise than specified');
  } catch (error) {
    if (!(error instanceof NodeRefusal) || !isRevert(error)) throw error;
    return { outcome: 'PREVIEW_OUTCOME_FAILURE', method, said: reasonOf(error.message, error.data) };
  }
}

/** True where the transaction was run and failed. Nodes agree on neither the code nor the words. */
const isRevert = ({ code, message, data }: NodeRefusal): boolean =>
  code === 3 || /revert/i.test(message) || revertBytes(data) !== undefined;

/** `Error(string)` and `Panic(uint256)` of Solidity. */
const errorSelector = '08c379a0';
const panicSelector = '4e487b71';

/** The reason that a contract gives, in its words; else the node's message. */
function reasonOf(message: string, data: unknown): string {
  const bytes = revertBytes(data);
  if (bytes === undefined) return shownWords(message);
  const selector = bytes.subarray(0, 4).toString('hex');
  if (selector === panicSelector && bytes.length === 36) {
    return `Panic 0x${BigInt(`0x${bytes.subarray(4).toString('hex')}`).toString(16)}`;
  }
  const length = bytes.length >= 68 ? BigInt(`0x${bytes.subarray(36, 68).toString('hex')}`) : undefined;
  if (selector === errorSelector && length !== undefined && length <= BigInt(bytes.length - 68)) {
    return shownWords(bytes.subarray(68, 68 + Number(length)).toString('utf8'));
  }
  return `${shownWords(message)} (error 0x${selector})`;
}

/** @returns undefined where there are none. */
function revertBytes(data: unknown): Buffer | undefined {
  // Some nodes wrap them.
  const inner: unknown = typeof data === 'object' && data !== null && 'data' in data ? data.data : data;
  return typeof inner === 'string' && /^0x([0-9a-f]{2}){4,}$/i.test(inner)
    ? Buffer.from(bytesOfHex(inner))
    : undefined;
}

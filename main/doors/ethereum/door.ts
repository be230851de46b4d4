/**
 * The door for Ethereum tools: JSON-RPC as EIP-1193 has it, clef's, and the part for accounts of web3signer's REST. Each call
 * that signs becomes one request of the API. All else is the node's.
 */
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { bytesOfHex } from '../../chains/ethereum/hex.ts';
import { address, hexData, hexOfNumber, readWish, unsignedOf } from '../../chains/ethereum/requests.ts';
import { shownSigned } from '../../chains/ethereum/signed.ts';
import { KeyhearthError } from '../../lib/errors.ts';
import { owned, type OnFault } from '../../lib/faults.ts';
import { parse } from '../../lib/parse.ts';
import { rpcCodes, RpcError, writeJson } from '../../lib/web/json-rpc.ts';
import type { ProgramRequest } from '../../http/door-routes.ts';
import type { Nodes } from '../../nodes/nodes.ts';
import { asksTransaction } from '../asks.ts';
import type { OpenDoor } from '../door.ts';
import type { Gone, Program } from '../program.ts';
import { readBody } from '../read-body.ts';
import { Offers } from './accounts.ts';
import { answerBody, type Call } from './bodies.ts';
import type { Transactions } from './sending.ts';
import { signBytes, signMessage, signNow, signTypedData } from './signing.ts';

/** Shared by all programs of the door. */
export interface Shared {
  readonly nodes: Nodes;
  readonly transactions: Transactions;
}

/** A request of a program, with what its calls left under way. */
interface Asked {
  readonly program: Program;
  readonly offers: Offers;
  readonly chainId: bigint;
  readonly gone: Gone;
  readonly held: Set<string>;
}

export const openEthereum =
  (shared: Shared): OpenDoor =>
  (program, { url, onFault }) => {
    const offers = new Offers(program);
    return Promise.resolve({
      address: `${url}/rpc`,
      answer: (request) => answer(shared, { program, offers, onFault }, request),
      close: () => Promise.resolve(),
    });
  };

interface Opened {
  readonly program: Program;
  readonly offers: Offers;
  readonly onFault: OnFault;
}

async function answer(
  shared: Shared,
  opened: Opened,
  { request, response, raw, gone }: ProgramRequest,
): Promise<void> {
  const { program, offers, onFault } = opened;
  // As it was written: a parser of URLs takes `//5` for a host, and the chain would be the program's first.
  const [pathname = ''] = (request.url ?? '').split('?', 1);
  if (pathname === '/upcheck') {
    sendText(response, 'OK', plain);
    return;
  }
  const rest = /^\/api\/v1\/eth1\/(publicKeys|sign\/(?:0x)?([0-9a-f]{128}))$/i.exec(pathname);
  if (rest !== null) {
    const of = { program, offers, gone };
    if (rest[2] === undefined)
      sendText(response, writeJson((await offers.get(gone)).accounts.map(({ publicKey }) => publicKey)));
    else sendText(response, await signAsWeb3signer(of, rest[2], raw), plain);
    return;
  }
  const path = /^\/([1-9][0-9]{0,14})?$/.exec(pathname);
  if (request.method !== 'POST' || path === null) {
    throw new KeyhearthError(
      'METHOD_NOT_ALLOWED',
      'expected POST of JSON-RPC, to the token or to the token and a chain ID',
    );
  }
  const [, chain] = path;
  const held = new Set<string>();
  let isDelivered = false;
  response.once(
    'finish',
    owned(() => (isDelivered = true), onFault),
  );
  response.once(
    'close',
    owned(() => shared.transactions.release(held, isDelivered), onFault),
  );
  const run = async (call: Call): Promise<unknown> => {
    await program.ready(gone);
    const { chainIds } = await offers.get(gone);
    const chainId = chain === undefined ? chainIds[0] : BigInt(chain);
    if (!chainIds.includes(chainId)) {
      throw new KeyhearthError(
        'PERMISSION_DENIED',
        `this program has no chain ${String(chainId)}: ${chainIds.join(', ')}`,
      );
    }
    const asked = { program, offers, chainId, gone, held };
    const own = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined;
    return (own ?? passOn)(shared, asked, call);
  };
  sendText(response, await answerBody(raw, run, onFault));
}

/** Answers a signature in hex, as web3signer does. */
async function signAsWeb3signer(
  { program, offers, gone }: Pick<Asked, 'program' | 'offers' | 'gone'>,
  publicKey: string,
  raw: Uint8Array,
): Promise<string> {
  const wanted = `0x${publicKey.toLowerCase()}`;
  const account = (await offers.get(gone)).accounts.find((each) => each.publicKey === wanted);
  if (account === undefined) throw new KeyhearthError('NOT_FOUND', 'this program has no such key');
  const { data } = parse(z.looseObject({ data: hexData }), readBody(raw), 'body');
  return signBytes(program, account.address, bytesOfHex(data), gone);
}

type Method = (shared: Shared, asked: Asked, call: Call) => Promise<unknown>;

const typedData = z.union([z.string(), z.looseObject({})]);
const text = (data: string): Uint8Array =>
  hexData.safeParse(data).success ? bytesOfHex(data) : Buffer.from(data, 'utf8');

const listAccounts: Method = async (_shared, { offers, gone }) =>
  (await offers.get(gone)).accounts.map(({ address }) => address);

const signTyped: Method = (_shared, { program, gone }, { params }) => {
  const [account, data] = parse(z.tuple([address, typedData], z.unknown()), params, 'params');
  return signTypedData(program, account, typeof data === 'string' ? data : writeJson(data), gone);
};

const signWish = async ({ program, chainId, gone }: Asked, params: readonly unknown[]): Promise<string> => {
  const wish = readWish(params[0], chainId);
  return signNow(program, asksTransaction(program, wish.from, unsignedOf(wish, chainId)), gone);
};

const validator = z.object({ address, message: hexData });

const methods: Readonly<Record<string, Method>> = {
  eth_accounts: listAccounts,
  eth_requestAccounts: listAccounts,
  account_list: listAccounts,
  eth_chainId: (_shared, { chainId }) => Promise.resolve(hexOfNumber(chainId)),
  net_version: (_shared, { chainId }) => Promise.resolve(String(chainId)),
  account_version: () => Promise.resolve('6.1.0'),
  eth_signTransaction: (_shared, asked, { params }) => signWish(asked, params),
  account_signTransaction: async (_shared, asked, { params }) => shownSigned(await signWish(asked, params)),
  eth_sendTransaction: async ({ nodes, transactions }, asked, { params }) => {
    const node = nodes.get(asked.chainId);
    if (node === undefined) throw noNode(asked.chainId);
    const wish = readWish(params[0], asked.chainId);
    await asked.offers.checkAccount(wish.from, asked.gone);
    return transactions.send({ ...asked, node }, wish);
  },
  personal_sign: (_shared, { program, gone }, { params }) => {
    const [data, account] = parse(z.tuple([z.string(), address], z.unknown()), params, 'params');
    return signMessage(program, account, text(data), gone);
  },
  eth_signTypedData_v4: signTyped,
  account_signTypedData: signTyped,
  account_signData: (_shared, { program, gone }, { params }) => {
    const [kind, account, data] = parse(
      z.tuple([z.string(), address, z.unknown()], z.unknown()),
      params,
      'params',
    );
    switch (kind) {
      // Clef's own documentation calls it by the second name.
      case 'text/plain':
      case 'data/plain':
        return signMessage(program, account, bytesOfHex(parse(hexData, data, 'params[2]')), gone);
      case 'text/validator':
      case 'data/validator': {
        const { address: of, message } = parse(validator, data, 'params[2]');
        return signBytes(program, account, bytesOfHex(`0x1900${of.slice(2)}${message.slice(2)}`), gone);
      }
      case 'data/typed':
        return signTypedData(program, account, typeof data === 'string' ? data : writeJson(data), gone);
      default:
        throw new KeyhearthError('INVALID_ARGUMENT', 'expected text/plain, text/validator or data/typed');
    }
  },
};

/** Names of methods that sign, or manage accounts: a node must not answer them for this vault. */
const isOurs = (method: string): boolean =>
  /^(account_|clef_|personal_|wallet_|signer_|eth_sign)/.test(method);

const passOn: Method = ({ nodes }, { chainId }, { method, params }) => {
  if (isOurs(method)) {
    const instead = method === 'eth_sign' ? ': it signs what no one can read; use personal_sign' : '';
    throw new RpcError(rpcCodes.unsupported, `${method} is not supported${instead}`);
  }
  const node = nodes.get(chainId);
  if (node === undefined) throw noNode(chainId);
  return node.ask(method, params);
};

const noNode = (chainId: bigint): RpcError =>
  new RpcError(
    rpcCodes.unsupported,
    `no node is set for chain ${String(chainId)}: \`keyhearth rpc node ${String(chainId)} URL\``,
  );

const plain = 'text/plain; charset=utf-8';

/** @param body Undefined where nothing wants an answer. */
function sendText(response: ServerResponse, body: string | undefined, type = 'application/json'): void {
  response
    .writeHead(body === undefined ? 204 : 200, {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    })
    .end(body);
}

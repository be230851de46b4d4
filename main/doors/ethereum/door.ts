/**
 * The door for Ethereum tools: JSON-RPC as EIP-1193 has it, clef's, and the part for accounts of web3signer's REST. Each call
 * that signs becomes one request of the API.
 */
import type { ServerResponse } from 'node:http';
import { KeyhearthError } from '../../lib/errors.ts';
import type { ProgramRequest } from '../../http/door-routes.ts';
import type { OpenDoor } from '../door.ts';
import { Offers } from './accounts.ts';
import { answerBody, rpcCodes, RpcError, type Call } from './json-rpc.ts';

export const openEthereum: OpenDoor = (program, { url, onFault }) => {
  const offers = new Offers(program);
  const run = async ({ method }: Call, gone: AbortSignal): Promise<unknown> => {
    await program.ready(gone);
    switch (method) {
      case 'eth_accounts':
      case 'eth_requestAccounts':
      case 'account_list':
        return (await offers.get(gone)).accounts.map(({ address }) => address);
      default:
        throw new RpcError(rpcCodes.unsupported, `${method} is not supported`);
    }
  };
  return Promise.resolve({
    address: `${url}/rpc`,
    answer: async ({ request, response, raw, gone }: ProgramRequest) => {
      if (request.method !== 'POST') {
        throw new KeyhearthError('METHOD_NOT_ALLOWED', `expected POST, got ${String(request.method)}`);
      }
      const answer = await answerBody(raw, (call) => run(call, gone), onFault);
      sendText(response, answer);
    },
    close: () => Promise.resolve(),
  });
};

/** @param json Undefined where nothing wants an answer. */
function sendText(response: ServerResponse, json: string | undefined): void {
  response
    .writeHead(json === undefined ? 204 : 200, {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    })
    .end(json);
}

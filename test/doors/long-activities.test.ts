/** The class: large activities of one user stop no program of another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeSshMessage } from '../../main/chains/ssh/payloads.ts';
import { newWallet, resultOf, startTestVault, type TestVault } from '../support/support.ts';
import { ask, makeTaggedKey, pairSshProgram, signRequest } from '../support/ssh-agent.ts';

let service: TestVault;
beforeAll(async () => {
  service = await startTestVault();
});
afterAll(() => service[Symbol.asyncDispose]());

test('a program signs though a page of the log is too large for one answer', async () => {
  const key = await makeTaggedKey(service);
  const laptop = await pairSshProgram(service, key, 'laptop');
  const { ethereum } = await newWallet(service.root);
  for (let each = 0; each < 20; each++) {
    const payload = `${'ab'.repeat(490_000)}${String(each + 10)}`;
    resultOf(
      await service.root.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', {
        ...{ signWith: ethereum, payload },
        ...{ encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_SHA256' },
      }),
    );
  }
  const tooMany = await service.root.query('list_activities', { paginationOptions: { limit: '100' } });
  expect(tooMany.status).toBe(400);
  const [answer] = await ask(
    laptop.socket,
    signRequest(key.blob, encodeSshMessage('file', 'sha512', Buffer.from('text'))),
  );
  // SSH_AGENT_SIGN_RESPONSE
  expect(answer?.[0]).toBe(14);
});

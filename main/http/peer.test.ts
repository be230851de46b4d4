import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { isOtherUser, ownerIn } from './peer.ts';

const header =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const row = (local: string, remote: string, state: string, user: number): string =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${String(user)}        0 12345 1 0000000000000000\n`;

/** As a table of a machine with little-endian words has it: those of nearly all. */
test('finds the far end’s own row, in either table, whichever way an address is written', () => {
  const four = { localAddress: '127.0.0.1', localPort: 7377, remoteAddress: '127.0.0.1', remotePort: 50_000 };
  const there = row('0100007F:C350', '0100007F:1CD1', '01', 1001);
  const here = row('0100007F:1CD1', '0100007F:C350', '01', 1000);
  expect(ownerIn(header + here + there, four)).toBe(1001);
  expect(ownerIn(header + here, four)).toBeUndefined();
  // It has sent all that it has to say, and still reads.
  for (const state of ['04', '05']) {
    expect(ownerIn(header + row('0100007F:C350', '0100007F:1CD1', state, 1001), four)).toBe(1001);
  }
  expect(ownerIn(header + row('0100007F:C350', '0100007F:1CD1', '06', 0), four)).toBeUndefined();
  const mapped = '0000000000000000FFFF00000100007F';
  expect(ownerIn(header + row(`${mapped}:C350`, `${mapped}:1CD1`, '01', 1002), four)).toBe(1002);
  const asMapped = { ...four, localAddress: '::ffff:127.0.0.1', remoteAddress: '::ffff:127.0.0.1' };
  expect(ownerIn(header + there, asMapped)).toBe(1001);
  const one = '00000000000000000000000001000000';
  const six = { ...four, localAddress: '::1', remoteAddress: '::1' };
  expect(ownerIn(header + row(`${one}:C350`, `${one}:1CD1`, '01', 1003), six)).toBe(1003);
  expect(ownerIn(header + there, six)).toBeUndefined();
  expect(ownerIn('', four)).toBeUndefined();
});

test('does not mistake this user’s own connection for another user’s', async () => {
  for (const host of ['127.0.0.1', '::1']) {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect((server.address() as AddressInfo).port, host);
    const [socket] = await accepted;
    expect(await isOtherUser(socket)).toBe(false);
    client.destroy();
    socket.destroy();
    server.close();
  }
});

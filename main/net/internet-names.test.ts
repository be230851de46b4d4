/** The class: a name server that does not answer keeps no one waiting but who asked for its name. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { internetLookup } from './internet-names.ts';

const types = { 1: 'A', 28: 'AAAA' } as const;
type Type = (typeof types)[keyof typeof types];

let server: Socket | undefined;
afterEach(() => server?.close());

/** A name server of these answers; where it has none it does not answer. */
async function serve(answers: (name: string, type: Type) => readonly (readonly number[])[] | undefined) {
  const socket = createSocket('udp4');
  server = socket;
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length; (length = query[at] ?? 0) > 0; at += length + 1) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
    }
    const question = query.subarray(12, at + 5);
    const type = types[query.readUInt16BE(at + 1) as keyof typeof types];
    asked.push(`${labels.join('.')} ${type}`);
    const records = answers(labels.join('.').toLowerCase(), type);
    if (records === undefined) return;
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0]);
    const rows = records.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    );
    socket.send(Buffer.concat([header, question, ...rows]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { asked, servers: [`127.0.0.1:${String(socket.address().port)}`] };
}

const all = (servers: readonly string[], name: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    internetLookup(servers)(name, { all: true }, (error, addresses) => {
      if (error === null) resolve(addresses);
      else reject(error);
    });
  });

const v6 = [0x26, 0x06, 0x47, 0, ...new Array<number>(11).fill(0), 1];

test('answers the addresses of both kinds', async () => {
  const { servers } = await serve((name, type) =>
    name !== 'two.example'
      ? []
      : type === 'A'
        ? [
            [8, 8, 8, 8],
            [8, 8, 4, 4],
          ]
        : [v6],
  );
  const found: readonly LookupAddress[] = [
    { address: '8.8.8.8', family: 4 },
    { address: '8.8.4.4', family: 4 },
    { address: '2606:4700::1', family: 6 },
  ];
  expect(await all(servers, 'two.example')).toEqual(found);
  const one = await new Promise((resolve) => {
    internetLookup(servers)('two.example', {}, (_error, address, family) => {
      resolve([address, family]);
    });
  });
  expect(one).toEqual(['8.8.8.8', 4]);
});

test('a name with addresses of one kind has those, and one with none has a reason', async () => {
  const { servers } = await serve((name, type) => (name === 'six.example' && type === 'AAAA' ? [v6] : []));
  expect(await all(servers, 'six.example')).toEqual([{ address: '2606:4700::1', family: 6 }]);
  await expect(all(servers, 'none.example')).rejects.toMatchObject({ code: 'ENODATA' });
});

test('names whose server is mute keep no other lookup waiting, and are given up', async () => {
  const { asked, servers } = await serve(() => undefined);
  let ended = 0;
  const mute = Array.from({ length: 16 }, (_, index) =>
    expect(all(servers, `mute-${String(index)}.example`))
      .rejects.toMatchObject({ code: 'ETIMEOUT' })
      .finally(() => ended++),
  );
  expect(await promisify(systemLookup)('localhost')).toMatchObject({ family: expect.any(Number) as number });
  expect(ended).toBe(0);
  await Promise.all(mute);
  expect(new Set(asked).size).toBe(32);
});

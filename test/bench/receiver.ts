/** A receiver of webhooks in a process of its own: it takes everything, and tells how many there were. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let count = 0;
const server = createServer((request, response) => {
  if (request.method === 'POST') {
    request.on('end', () => {
      count++;
      response.end();
    });
    request.resume();
    return;
  }
  response.end(JSON.stringify({ count }));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${String(port)}/` })}\n`);

/** The cost of Express alone: a raw body in, an empty answer out. Sends its port to the parent. */
import type { AddressInfo } from 'node:net';
import express from 'express';

const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(express.raw({ type: () => true }));
app.post('/', (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
});
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

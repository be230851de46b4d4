/**
 * Overwrites memory that is free. JavaScript cannot erase a text, nor a copy that the engine left where it moved something
 * from, nor a buffer of the platform's own: once such a thing is garbage its bytes stay until something else needs the
 * place.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { owned } from '../lib/faults.ts';
import { once as makeOnce } from '../lib/once.ts';

type Collect = (how: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** Undefined in a runtime whose engine cannot be asked. */
const collector = makeOnce((): Collect | undefined => {
  try {
    setFlagsFromString('--expose-gc');
    return runInNewContext('typeof gc === "function" ? gc : undefined') as Collect | undefined;
  } catch {
    return undefined;
  }
});

/**
 * Sizes in bytes and counts of the allocations that overwrite free memory. Allocators keep free memory by
 * size, in steps of 16 bytes for small sizes. The largest come first and are the most: adjacent free pieces,
 * once merged, are split for them. In a service that has run for a while there are thousands of free pieces.
 */
const pieces: readonly (readonly [size: number, count: number])[] = [
  [64 * 1024, 1024],
  ...[16 * 1024, 4096, 1024, 512, 256].map((size) => [size, 512] as const),
  ...[120, 104, 88, 72, 56, 40, 24].map((size) => [size, 16_384] as const),
];

/**
 * The sizes, in bytes, of which glibc keeps a few free pieces apart for each thread: every 16 bytes up to some 1,000. Nothing of
 * another size takes their place, and a request for zeros passes them by.
 */
const keptApart = Array.from({ length: 64 }, (_, index) => 24 + 16 * index);
const countApart = 128;

/** The process stands still for as long as a full collection takes: some 100 ms in a service that serves. */
export async function eraseFreeMemory(): Promise<void> {
  await overwriteReadBuffer();
  retirePool();
  // The engine gives all pages back that hold nothing, and what garbage had of the allocator's memory is free then.
  collector()?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const zeros: (ArrayBuffer | Buffer)[] = [];
  for (const size of keptApart) {
    for (let made = 0; made < countApart; made += 1) zeros.push(Buffer.allocUnsafeSlow(size).fill(0));
  }
  for (const [size, count] of pieces) {
    for (let made = 0; made < count; made += 1) zeros.push(new ArrayBuffer(size));
  }
}

/** Longer than the one buffer into which the platform reads what comes over any connection, 64 KiB. */
const longMessage = 256 * 1024;
/** In milliseconds. */
const patience = 1000;

/**
 * Reads a message that is longer than that buffer, of which the end of every message stays until a longer one comes. It is
 * sent over loopback by this process to itself; a stranger who connects in its place is read, and not heard.
 */
async function overwriteReadBuffer(): Promise<void> {
  const sockets: Socket[] = [];
  const keep = (socket: Socket): Socket => {
    sockets.push(socket);
    return socket.on(
      'error',
      owned(() => undefined),
    );
  };
  const server = createServer(owned((socket: Socket) => keep(socket).resume()));
  try {
    await once(server.listen({ host: '127.0.0.1', port: 0 }), 'listening');
    const { port } = server.address() as AddressInfo;
    const sender = keep(connect({ host: '127.0.0.1', port }));
    sender.setTimeout(
      patience,
      owned(() => sender.destroy()),
    );
    await once(sender, 'connect');
    sender.resume().end(Buffer.alloc(longMessage));
    await once(sender, 'close');
  } catch {
    // No loopback here: what is left is what the next long message overwrites.
  } finally {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
}

/** Short Buffers share memory that is not garbage until the last of them is, and until it is full. */
function retirePool(): void {
  for (let taken = 0; taken < 2 * Buffer.poolSize; taken += Buffer.poolSize / 4) {
    Buffer.allocUnsafe(Buffer.poolSize / 4);
  }
}

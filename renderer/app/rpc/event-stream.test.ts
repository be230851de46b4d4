import { expect, test } from 'vitest';
import { eventStreamReader } from './event-stream.ts';

const read = (...pieces: readonly string[]) => {
  const seen: string[] = [];
  const feed = eventStreamReader((data) => seen.push(data));
  for (const piece of pieces) feed(piece);
  return seen;
};

test('comments and other fields are passed over', () => {
  expect(read(': keep-alive\n\n', 'id: 4\nevent: x\ndata: {"kind":"status"}\n\n')).toEqual([
    '{"kind":"status"}',
  ]);
});

test('an event may arrive in any pieces, with any line ends', () => {
  const stream = 'data: one\r\n\r\ndata: two\r\ndata: lines\r\n\r\n: c\r\n\r\n';
  for (let at = 0; at <= stream.length; at += 1) {
    expect(read(stream.slice(0, at), stream.slice(at))).toEqual(['one', 'two\nlines']);
  }
  expect(read(...Array.from(stream))).toEqual(['one', 'two\nlines']);
});

test('an event without its empty line is not told', () => {
  expect(read('data: half\n')).toEqual([]);
});

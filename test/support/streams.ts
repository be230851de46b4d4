/** Streams of activity events, read as a script reads them. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import type { Json, TestKey } from './support.ts';

/** Opens a stream. @returns its events, as they arrive. */
export async function openStream(
  {
    url,
    organizationId,
    key,
    header = 'X-Stamp',
  }: {
    readonly url: string;
    readonly organizationId: string;
    readonly key: Pick<TestKey, 'stamp'>;
    /** Of the stamp. */
    readonly header?: string;
  },
  body: Json,
  headers: Record<string, string> = {},
) {
  const text = JSON.stringify({ organizationId, ...body });
  const sent = request(new URL('/public/v1/stream/activities', url), {
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'application/json', [header]: key.stamp(text), ...headers },
  });
  sent.on('error', () => undefined);
  sent.end(text);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const events: { id: string; activity: Json }[] = [];
  let id = '';
  let ended = false;
  response.on('error', () => undefined).on('close', () => (ended = true));
  createInterface({ input: response })
    .on('line', (line) => {
      if (line.startsWith('id: ')) id = line.slice(4);
      if (line.startsWith('data: ')) events.push({ id, activity: JSON.parse(line.slice(6)) as Json });
    })
    .on('error', () => undefined);
  return { response, events, isEnded: () => ended, close: () => sent.destroy() };
}

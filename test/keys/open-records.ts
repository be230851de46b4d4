/** Opens sealed records, erases what it got, and waits: a process whose memory `freed-copies.test.ts` searches. */
import { open } from '../../main/crypto/sealing.ts';

interface Work {
  readonly masterKey: string;
  readonly records: readonly string[];
}

// A listener that stays keeps the process: with `once` it would end after its answer, and perhaps before its memory is searched.
process.on('message', ({ masterKey, records }: Work) => {
  const key = new Uint8Array(Buffer.from(masterKey, 'hex'));
  records.forEach((sealed, index) => {
    const context = { table: 'private_keys', rowId: String(index), organizationId: '' };
    open(key, context, new Uint8Array(Buffer.from(sealed, 'hex'))).fill(0);
  });
  process.send?.('opened');
});
process.send?.('ready');

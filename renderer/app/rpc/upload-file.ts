/** Brings a file to the service part by part, so that neither side ever holds more of it than that. */
import type { UploadProgress, ChooseOptions, UploadedBackup } from '../../../preload/contract.ts';
import { RpcError } from './rpc-error.ts';
import { t } from '../i18n/text.ts';

/** In bytes. The first is enough to see what the file is; another is to be there within half a minute, from afar too. */
const firstPart = 256 * 1024;
const otherParts = 1024 * 1024;

interface Service {
  readonly post: (query: string, part: ArrayBuffer, signal?: AbortSignal) => Promise<UploadProgress>;
  readonly release: (file: string) => Promise<void>;
}

/** Rejects where the service refuses it, the file cannot be read, or the signal ends it; nothing of it stays then. */
export async function uploadFile(
  file: File,
  { onProgress, signal }: ChooseOptions,
  { post, release }: Service,
): Promise<UploadedBackup> {
  const send = async (at: number, length: number, begun?: string): Promise<UploadProgress> => {
    const part = await read(file, at, length);
    const query = new URLSearchParams({ name: file.name, size: String(file.size), at: String(at) });
    if (begun !== undefined) query.set('file', begun);
    signal?.throwIfAborted();
    // The id of the upload is in the first answer, so the first request is not aborted.
    return begun === undefined ? post(query.toString(), part) : post(query.toString(), part, signal);
  };
  const { backup, received } = await send(0, firstPart);
  try {
    for (let here = received; here < file.size;) {
      onProgress?.(here, file.size);
      ({ received: here } = await send(here, otherParts, backup.file));
    }
    signal?.throwIfAborted();
    onProgress?.(file.size, file.size);
    return backup;
  } catch (error) {
    await release(backup.file).catch(() => undefined);
    throw error;
  }
}

async function read(file: File, at: number, length: number): Promise<ArrayBuffer> {
  try {
    return await file.slice(at, at + length).arrayBuffer();
  } catch {
    throw new RpcError(t('Couldn’t read the file. Choose the file again.'));
  }
}

/** The nodes that the owner set, one for each chain. */
import { z } from 'zod';
import { KeyhearthError } from '../lib/errors.ts';
import { isThisMachine } from '../lib/network.ts';
import type { Keyring } from '../keys/keyring.ts';
import type { Writer } from '../storage/connection.ts';
import { deleteNode, ethereumNodeContext, getNode, putNode } from '../storage/tables/ethereum-nodes.ts';
import { isNetworkOn } from '../storage/tables/settings.ts';
import type { UnitOfWork } from '../storage/unit-of-work.ts';
import { offPreview, type Preview, type Previewable } from '../lib/web/previews.ts';
import { ChainNode } from './node.ts';
import { inTime, previewBy } from './preview.ts';

const mostPreviews = 4;
const longestPreviewMs = 20_000;

export const chainIdText = z.string().regex(/^[1-9][0-9]{0,14}$/, 'Expected the digits of a chain ID');
export const nodeUrl = z
  .url({
    protocol: /^https?$/,
    error: 'Expected an address that begins with https://, or http:// on this machine',
    // The checks below need a URL.
    abort: true,
  })
  .max(2000)
  .refine((text) => text.startsWith('https:') || isThisMachine(new URL(text).hostname), {
    error: 'Expected https: without it, anyone on the way could answer for the node',
  })
  .refine((text) => new URL(text).username === '' && new URL(text).password === '', {
    error: 'Expected an address without user and password',
  });

export class Nodes {
  readonly #units: UnitOfWork;
  readonly #keyring: Keyring;
  readonly #open = new Map<string, { readonly since: number; readonly node: ChainNode }>();
  #previewing = 0;

  constructor(units: UnitOfWork, keyring: Keyring) {
    this.#units = units;
    this.#keyring = keyring;
  }

  /** @returns undefined where none is set. @throws KeyhearthError VAULT_LOCKED */
  get(chainId: bigint): ChainNode | undefined {
    const id = String(chainId);
    const row = this.#units.read((tx) => getNode(tx, id));
    const open = this.#open.get(id);
    if (row !== undefined && open?.since === row.updatedAt) return open.node;
    open?.node.close();
    this.#open.delete(id);
    if (row === undefined) return undefined;
    const url = Buffer.from(this.#keyring.open(ethereumNodeContext(id), row.sealed)).toString('utf8');
    const since = row.updatedAt;
    const node = new ChainNode(chainId, url, {
      isNetworkOn: () => this.#units.read(isNetworkOn),
      isSet: () => this.#units.read((tx) => getNode(tx, id))?.updatedAt === since,
    });
    this.#open.set(id, { since, node });
    return node;
  }

  /**
   * @param url Null where none is to be set. @param own The vault's own address, which is not a node.
   * @throws KeyhearthError NOT_FOUND, or INVALID_ARGUMENT for the vault itself.
   */
  change(tx: Writer, chainId: string, url: string | null, { own, now }: { own: string; now: number }): void {
    if (url === null) {
      if (deleteNode(tx, chainId) > 0) return;
      throw new KeyhearthError('NOT_FOUND', `no node is set for chain ${chainId}`);
    }
    const { origin, hostname, port } = new URL(url);
    if (isThisMachine(hostname) && port === new URL(own).port) {
      throw new KeyhearthError('INVALID_ARGUMENT', 'invalid doors.url: expected a node, got this vault');
    }
    const sealed = this.#keyring.seal(ethereumNodeContext(chainId), Buffer.from(url, 'utf8'));
    const old = getNode(tx, chainId);
    // Another time than before, so that an open node is known to be the old one.
    const updatedAt = Math.max(now, (old?.updatedAt ?? 0) + 1);
    // Consent to previews is consent to one host.
    const previews = old?.origin === origin ? old.previews : null;
    putNode(tx, { chainId, origin, sealed, updatedAt, previews });
  }

  /** @throws KeyhearthError NOT_FOUND where no node is set. */
  switchPreviews(tx: Writer, chainId: string, on: boolean): void {
    const row = getNode(tx, chainId);
    if (row === undefined) throw new KeyhearthError('NOT_FOUND', `no node is set for chain ${chainId}`);
    putNode(tx, { ...row, previews: on ? 1 : 0 });
  }

  /**
   * Asks the node of a chain what a transaction would do, if the owner has switched that on.
   * @throws KeyhearthError VAULT_LOCKED, or RESOURCE_EXHAUSTED where too many are under way.
   */
  async preview(wanted: Previewable): Promise<Preview> {
    const chainId = String(wanted.chainId);
    const row = this.#units.read((tx) => getNode(tx, chainId));
    if (row?.previews !== 1) {
      return row === undefined
        ? offPreview(`no node is set for chain ${chainId}`)
        : offPreview(`previews are off for chain ${chainId}`);
    }
    const node = this.get(wanted.chainId);
    if (node === undefined) return offPreview(`no node is set for chain ${chainId}`);
    if (this.#previewing >= mostPreviews) {
      throw new KeyhearthError('RESOURCE_EXHAUSTED', 'too many previews are under way: ask again soon');
    }
    this.#previewing += 1;
    // A node that is late is still asked: it takes a place until it answers.
    const asked = previewBy(node, wanted).finally(() => (this.#previewing -= 1));
    return inTime(asked, longestPreviewMs);
  }

  close(): void {
    for (const { node } of this.#open.values()) node.close();
    this.#open.clear();
  }
}

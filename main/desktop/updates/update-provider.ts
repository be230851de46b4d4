/**
 * Tells electron-updater the newest version, only from metadata that the project's own key signed. Its
 * requests identify no installation.
 */
import electronUpdater from 'electron-updater';
import type { AppUpdater, ResolvedUpdateFileInfo, UpdateInfo } from 'electron-updater';
import { parseUpdateInfo, resolveFiles } from 'electron-updater/out/providers/Provider.js';
import type { ProviderRuntimeOptions } from 'electron-updater/out/providers/Provider.js';
import { isUpdateMetadataSigned } from '../../lib/update-signature.ts';
import { ExplainedError } from '../../lib/errors.ts';

/** The address of updates, and the key that must have signed them. */
export interface UpdateFeed {
  /** Of the directory that has `latest….yml`, its signature and the installers. */
  readonly url: string;
  /** 64 hexadecimal digits. */
  readonly publicKey: string;
}

/** The offered update may not be installed. It may be an attack. */
export class UpdateRefusedError extends ExplainedError {
  override readonly name = 'UpdateRefusedError';
}

interface FeedConfiguration extends UpdateFeed {
  readonly provider: 'custom';
  readonly updateProvider: typeof SignedProvider;
}

class SignedProvider extends electronUpdater.Provider<UpdateInfo> {
  readonly #feed: UpdateFeed;
  readonly #base: URL;
  readonly #updater: AppUpdater;

  constructor(feed: FeedConfiguration, updater: AppUpdater, options: ProviderRuntimeOptions) {
    super(options);
    this.#feed = feed;
    this.#base = new URL(feed.url.endsWith('/') ? feed.url : `${feed.url}/`);
    this.#updater = updater;
  }

  /** @throws UpdateRefusedError, or an error of the network's. */
  async getLatestVersion(): Promise<UpdateInfo> {
    const name = `${this.getDefaultChannelName()}.yml`;
    const [text, signature] = await Promise.all([this.#read(name), this.#read(`${name}.sig`)]);
    if (!isUpdateMetadataSigned(this.#feed.publicKey, name, text, signature)) {
      throw new UpdateRefusedError(
        `${name} at ${this.#base.href} is not signed by the key that this Keyhearth knows: nothing of it was used`,
      );
    }
    const info = parseUpdateInfo(text, name, new URL(name, this.#base));
    this.#refuseOlder(info);
    for (const file of info.files) refuseElsewhere(file.url, file.sha512);
    return info;
  }

  resolveFiles(info: UpdateInfo): ResolvedUpdateFileInfo[] {
    return resolveFiles(info, this.#base);
  }

  /** electron-updater would have each request say which installation it comes from. */
  override setRequestHeaders(): void {
    super.setRequestHeaders(null);
  }

  async #read(name: string): Promise<string> {
    const text = await this.httpRequest(new URL(name, this.#base));
    return text ?? '';
  }

  /** An old release, with its known faults, stays signed forever and must not return. */
  #refuseOlder({ version }: UpdateInfo): void {
    // Its type is of a package that brings none.
    const current = this.#updater.currentVersion as unknown as {
      readonly version: string;
      compare(other: string): number;
    };
    if (current.compare(version) <= 0) return;
    throw new UpdateRefusedError(
      `the newest version at ${this.#base.href} is ${version}, older than this one, ${current.version}: nothing of it was used`,
    );
  }
}

function refuseElsewhere(name: string, sha512: string): void {
  const hash = Buffer.from(sha512, 'base64');
  if (/^[\w.+ -]+$/.test(name) && hash.length === 64) return;
  throw new UpdateRefusedError(
    `an update names the file ${JSON.stringify(name)}: expected a name beside its metadata, with its SHA-512`,
  );
}

/** Makes an updater follow a feed, and do nothing by itself. */
export function followFeed(updater: AppUpdater, feed: UpdateFeed): void {
  updater.autoDownload = false;
  updater.autoInstallOnAppQuit = false;
  updater.allowPrerelease = false;
  updater.disableWebInstaller = true;
  // It compares with an old installer, which its server would be asked for.
  updater.disableDifferentialDownload = true;
  // No part of the users is chosen by a number that each of them would keep.
  updater.isUserWithinRollout = () => true;
  const configuration: FeedConfiguration = { ...feed, provider: 'custom', updateProvider: SignedProvider };
  updater.setFeedURL(configuration);
  updater.allowDowngrade = false;
}

/** The updater of this system and kind of package. */
export const systemUpdater = (): AppUpdater => electronUpdater.autoUpdater;

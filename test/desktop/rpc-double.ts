/** An rpc that records its calls, for tests of the modules around it; `app.test.ts` has the real one. */
import { basename } from 'node:path';
import type {
  BackupsStatus,
  DoorStatus,
  WalletPreview,
  WindowRpc,
  Keyslots,
  MessagesStatus,
  Settings,
  Sheet,
  SeenRequests,
  ShownMessage,
  VaultRpc,
  VaultEvent,
  VaultState,
  VaultStatus,
} from '../../preload/contract.ts';

const noBackups: BackupsStatus = {
  available: true,
  backups: [],
  schedule: null,
  notices: [],
  running: null,
  suggestedDirectory: '/backups',
};

const noMessages: MessagesStatus = {
  inboxOnly: false,
  mail: null,
  sms: null,
  desktop: false,
  deliveries: [],
};

export class RpcDouble implements VaultRpc {
  state: VaultState = 'unlocked';
  frozenAt: number | undefined;
  delayed: VaultStatus['delayed'] = null;
  storage: VaultStatus['storage'] = null;
  /** The error of the next calls, in place of an answer. */
  failure: Error | undefined;
  shown: readonly ShownMessage[] = [];
  /** The answer of `copyOfBackup`. */
  copy = { file: '/backups/new', name: 'keyhearth-Family.backup' };
  /** The answer of `call`. */
  body: unknown = {};
  doorsNow: readonly DoorStatus[] = [];
  settingsNow: Settings = {
    autoLock: { idleMinutes: 10, requestsKeepOpen: true, onScreenLock: true, onSuspend: true },
    port: null,
    network: true,
    limits: 1,
    startAtLogin: null,
    updates: null,
    desktop: null,
  };
  readonly asked: { readonly name: string; readonly args: readonly unknown[] }[] = [];
  readonly #listeners = new Set<(event: VaultEvent) => void>();

  status(): Promise<VaultStatus> {
    return this.#answer('status', []);
  }

  probeKeychain(): Promise<VaultStatus> {
    return this.#answer('probeKeychain', []);
  }

  async newRecoveryPhrase(): Promise<{ readonly phrase: string }> {
    await this.#answer('newRecoveryPhrase', []);
    return { phrase: 'abandon '.repeat(23).concat('art') };
  }

  create(...args: Parameters<WindowRpc['create']>): Promise<VaultStatus> {
    this.state = 'unlocked';
    return this.#answer('create', args);
  }

  restore(...args: Parameters<WindowRpc['restore']>): Promise<VaultStatus> {
    this.state = 'unlocked';
    return this.#answer('restore', args);
  }

  unlock(...args: Parameters<WindowRpc['unlock']>): Promise<VaultStatus> {
    this.state = 'unlocked';
    this.frozenAt = undefined;
    return this.#answer('unlock', args);
  }

  lock(): Promise<VaultStatus> {
    if (this.failure === undefined) this.state = 'locked';
    return this.#answer('lock', []);
  }

  freeze(): Promise<VaultStatus> {
    if (this.failure === undefined) {
      this.state = 'locked';
      this.frozenAt = 1;
    }
    return this.#answer('freeze', []);
  }

  async checkRows(): Promise<[]> {
    await this.#answer('checkRows', []);
    return [];
  }

  async call(...args: Parameters<WindowRpc['call']>): ReturnType<WindowRpc['call']> {
    await this.#answer('call', args);
    return { status: 200, body: this.body };
  }

  async reserveStepUp(...args: Parameters<WindowRpc['call']>): ReturnType<WindowRpc['call']> {
    await this.#answer('reserveStepUp', args);
    return { status: 200, body: {} };
  }

  async logState(...args: Parameters<WindowRpc['logState']>): ReturnType<WindowRpc['logState']> {
    await this.#answer('logState', args);
    return { rows: 0, head: null, publicKey: '', witness: null };
  }

  async securityEvents(): ReturnType<WindowRpc['securityEvents']> {
    await this.#answer('securityEvents', []);
    return { events: [] };
  }

  async checkLog(): ReturnType<WindowRpc['checkLog']> {
    await this.#answer('checkLog', []);
    return { rows: 0, hash: '00'.repeat(32), signed: 0, signedAt: null, findings: [], more: 0 };
  }

  async exportLog(...args: Parameters<WindowRpc['exportLog']>): ReturnType<WindowRpc['exportLog']> {
    await this.#answer('exportLog', args);
    return { text: '', next: null };
  }

  async keyslots(): Promise<Keyslots> {
    await this.#answer('keyslots', []);
    return { vaultId: '', keyslots: [] };
  }

  async changeKeyslots(...args: Parameters<WindowRpc['changeKeyslots']>): Promise<Keyslots> {
    await this.#answer('changeKeyslots', args);
    return this.keyslots();
  }

  async checkRecovery(...args: Parameters<WindowRpc['checkRecovery']>): Promise<Keyslots> {
    await this.#answer('checkRecovery', args);
    return this.keyslots();
  }

  async recoverySheet(...args: Parameters<WindowRpc['recoverySheet']>): Promise<readonly Sheet[]> {
    await this.#answer('recoverySheet', args);
    return [];
  }

  async previewWallet(...args: Parameters<WindowRpc['previewWallet']>): Promise<WalletPreview> {
    await this.#answer('previewWallet', args);
    return { addresses: [] };
  }

  async backups(): Promise<BackupsStatus> {
    await this.#answer('backups', []);
    return noBackups;
  }

  async backUp(...args: Parameters<WindowRpc['backUp']>): ReturnType<WindowRpc['backUp']> {
    await this.#answer('backUp', args);
    return {
      id: 'backup',
      file: args[0].file ?? '/backups/new',
      madeAt: 0,
      size: 1,
      logRows: 0,
      logHead: '',
      provenAt: null,
      problem: null,
      found: true,
    };
  }

  async lookAtBackup(...args: Parameters<WindowRpc['lookAtBackup']>): ReturnType<WindowRpc['lookAtBackup']> {
    await this.#answer('lookAtBackup', args);
    return { file: args[0], name: basename(args[0]), madeAt: 0, size: 1, opensWith: ['password'] };
  }

  async releaseBackup(...args: Parameters<WindowRpc['releaseBackup']>): Promise<void> {
    await this.#answer('releaseBackup', args);
  }

  async copyOfBackup(...args: Parameters<WindowRpc['copyOfBackup']>): ReturnType<WindowRpc['copyOfBackup']> {
    await this.#answer('copyOfBackup', args);
    return this.copy;
  }

  async verifyBackup(...args: Parameters<WindowRpc['verifyBackup']>): ReturnType<WindowRpc['verifyBackup']> {
    await this.#answer('verifyBackup', args);
    throw new Error('there is nothing to verify here');
  }

  async scheduleBackups(...args: Parameters<WindowRpc['scheduleBackups']>): Promise<BackupsStatus> {
    await this.#answer('scheduleBackups', args);
    return noBackups;
  }

  async messages(): Promise<MessagesStatus> {
    await this.#answer('messages', []);
    return noMessages;
  }

  async changeMessages(...args: Parameters<WindowRpc['changeMessages']>): Promise<MessagesStatus> {
    await this.#answer('changeMessages', args);
    return noMessages;
  }

  async testMessages(...args: Parameters<WindowRpc['testMessages']>): ReturnType<WindowRpc['testMessages']> {
    await this.#answer('testMessages', args);
    return { note: '' };
  }

  async retryMessage(...args: Parameters<WindowRpc['retryMessage']>): Promise<MessagesStatus> {
    await this.#answer('retryMessage', args);
    return noMessages;
  }

  async requests(...args: Parameters<WindowRpc['requests']>): Promise<SeenRequests> {
    await this.#answer('requests', args);
    return { requests: [], total: 0 };
  }

  async shownMessages(): Promise<readonly ShownMessage[]> {
    await this.#answer('shownMessages', []);
    return this.shown;
  }

  async settings(): Promise<Settings> {
    await this.#answer('settings', []);
    return this.settingsNow;
  }

  async changeSettings(...args: Parameters<WindowRpc['changeSettings']>): Promise<Settings> {
    await this.#answer('changeSettings', args);
    return this.settingsNow;
  }

  async doors(): ReturnType<WindowRpc['doors']> {
    await this.#answer('doors', []);
    return this.doorsNow;
  }

  async changeDoors(...args: Parameters<WindowRpc['changeDoors']>): ReturnType<WindowRpc['changeDoors']> {
    await this.#answer('changeDoors', args);
    return { doors: this.doorsNow, token: null };
  }

  async prove(...args: Parameters<WindowRpc['prove']>): ReturnType<WindowRpc['prove']> {
    await this.#answer('prove', args);
    return { until: 0 };
  }

  async about(): ReturnType<WindowRpc['about']> {
    await this.#answer('about', []);
    return { version: '0.0.0', commit: null, schema: 0, system: '', runtime: [] };
  }

  async licences(): Promise<[]> {
    await this.#answer('licences', []);
    return [];
  }

  async selfTest(): Promise<[]> {
    await this.#answer('selfTest', []);
    return [];
  }

  async diagnostics(): Promise<string> {
    await this.#answer('diagnostics', []);
    return '';
  }

  onEvent(listener: (event: VaultEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  announce(event: VaultEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Number of calls of a name. */
  count(name: keyof WindowRpc): number {
    return this.asked.filter((call) => call.name === name).length;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  #answer(name: keyof WindowRpc, args: readonly unknown[]): Promise<VaultStatus> {
    this.asked.push({ name, args });
    if (this.failure !== undefined) return Promise.reject(this.failure);
    return Promise.resolve({
      state: this.state,
      frozen: this.frozenAt === undefined ? null : { at: this.frozenAt, lastSignature: null, unsaved: null },
      version: '0.0.0',
      url: 'http://127.0.0.1:7377',
      rpId: 'localhost',
      directory: null,
      organization: null,
      owner: null,
      keyslots: [],
      keychain: { available: false, reason: 'this is a test' },
      delayed: this.delayed,
      windowKey: null,
      serverKeys: null,
      unlocking: null,
      tampering: null,
      storage: this.storage,
      wordsNotShown: false,
      program: ['keyhearth'],
      longestTurn: null,
    });
  }
}

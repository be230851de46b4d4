/** Runs sandboxed before the page: shows it the bridge of `contract.ts` as `latchkey`, and nothing else. */
import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type { IpcRendererEvent } from 'electron';
import type { Answer } from '../main/desktop/ipc.ts';
import type { Bridge, BridgeCall, VaultEvent } from './contract.ts';
import { channels } from './contract.ts';

async function ask(channel: string, ...args: readonly unknown[]): Promise<unknown> {
  const answer = (await ipcRenderer.invoke(channel, ...args)) as Answer;
  if ('value' in answer) return answer.value;
  const error = new Error(answer.error.message);
  // The context bridge hands the page the message alone; the window gives it the contract's name again.
  error.name = 'BridgeError';
  throw error;
}

const crossing = <Name extends BridgeCall>(name: Name): Bridge[Name] =>
  // Each call crosses with its arguments as they are, and main answers what the vault did.
  ((...args: readonly unknown[]) => ask(channels.call, name, args)) as Bridge[Name];

const bridge: Bridge = {
  status: crossing('status'),
  probeKeychain: crossing('probeKeychain'),
  newRecoveryPhrase: crossing('newRecoveryPhrase'),
  create: crossing('create'),
  restore: crossing('restore'),
  unlock: crossing('unlock'),
  lock: crossing('lock'),
  freeze: crossing('freeze'),
  checkRows: crossing('checkRows'),
  call: crossing('call'),
  logState: crossing('logState'),
  checkLog: crossing('checkLog'),
  exportLog: crossing('exportLog'),
  keyslots: crossing('keyslots'),
  changeKeyslots: crossing('changeKeyslots'),
  checkRecovery: crossing('checkRecovery'),
  recoverySheet: crossing('recoverySheet'),
  backups: crossing('backups'),
  backUp: crossing('backUp'),
  lookAtBackup: crossing('lookAtBackup'),
  releaseBackup: crossing('releaseBackup'),
  copyOfBackup: crossing('copyOfBackup'),
  verifyBackup: crossing('verifyBackup'),
  scheduleBackups: crossing('scheduleBackups'),
  messages: crossing('messages'),
  changeMessages: crossing('changeMessages'),
  testMessages: crossing('testMessages'),
  retryMessage: crossing('retryMessage'),
  shownMessages: crossing('shownMessages'),
  requests: crossing('requests'),
  settings: crossing('settings'),
  changeSettings: crossing('changeSettings'),
  prove: crossing('prove'),
  about: crossing('about'),
  licences: crossing('licences'),
  selfTest: crossing('selfTest'),
  async copy(text, options) {
    await ask(channels.copy, text, options);
  },
  async protectContent(on) {
    await ask(channels.protect, on);
  },
  chooseBackup: (file) => crossing('lookAtBackup')(webUtils.getPathForFile(file)),
  async saveBackup(id) {
    return (await ask(channels.save, id)) as string | null;
  },
  onEvent(listener) {
    // The page never sees Electron's event, which holds the sender.
    const forward = (_event: IpcRendererEvent, event: VaultEvent): void => {
      listener(event);
    };
    ipcRenderer.on(channels.event, forward);
    return () => {
      ipcRenderer.off(channels.event, forward);
    };
  },
};

contextBridge.exposeInMainWorld('latchkey', bridge);

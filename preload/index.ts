/** The preload bridge. Runs sandboxed before the page, and exposes the rpc of `contract.ts` to it as `keyhearth`; nothing else. */
import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type { IpcRendererEvent } from 'electron';
import type { Answer } from '../main/desktop/ipc.ts';
import type { WindowRpc, RpcCall, VaultEvent } from './contract.ts';
import { channels } from './contract.ts';

async function invoke(channel: string, ...args: readonly unknown[]): Promise<unknown> {
  const answer = (await ipcRenderer.invoke(channel, ...args)) as Answer;
  if ('value' in answer) return answer.value;
  const error = new Error(answer.error.message);
  // Electron's context bridge passes on only the message; `rpcError` in the window restores the name.
  error.name = 'RpcError';
  throw error;
}

const forward = <Name extends RpcCall>(name: Name): WindowRpc[Name] =>
  // Each call crosses with its arguments as they are, and main answers what the vault did.
  ((...args: readonly unknown[]) => invoke(channels.call, name, args)) as WindowRpc[Name];

const bridge: WindowRpc = {
  status: forward('status'),
  probeKeychain: forward('probeKeychain'),
  newRecoveryPhrase: forward('newRecoveryPhrase'),
  create: forward('create'),
  restore: forward('restore'),
  unlock: forward('unlock'),
  lock: forward('lock'),
  freeze: forward('freeze'),
  checkRows: forward('checkRows'),
  call: forward('call'),
  reserveStepUp: forward('reserveStepUp'),
  logState: forward('logState'),
  checkLog: forward('checkLog'),
  exportLog: forward('exportLog'),
  securityEvents: forward('securityEvents'),
  keyslots: forward('keyslots'),
  changeKeyslots: forward('changeKeyslots'),
  checkRecovery: forward('checkRecovery'),
  recoverySheet: forward('recoverySheet'),
  previewWallet: forward('previewWallet'),
  backups: forward('backups'),
  backUp: forward('backUp'),
  lookAtBackup: forward('lookAtBackup'),
  releaseBackup: forward('releaseBackup'),
  copyOfBackup: forward('copyOfBackup'),
  verifyBackup: forward('verifyBackup'),
  scheduleBackups: forward('scheduleBackups'),
  messages: forward('messages'),
  changeMessages: forward('changeMessages'),
  testMessages: forward('testMessages'),
  retryMessage: forward('retryMessage'),
  shownMessages: forward('shownMessages'),
  requests: forward('requests'),
  settings: forward('settings'),
  changeSettings: forward('changeSettings'),
  doors: forward('doors'),
  changeDoors: forward('changeDoors'),
  prove: forward('prove'),
  about: forward('about'),
  licences: forward('licences'),
  selfTest: forward('selfTest'),
  diagnostics: forward('diagnostics'),
  async copy(text, options) {
    await invoke(channels.copy, text, options);
  },
  async protectContent(on) {
    await invoke(channels.protect, on);
  },
  chooseBackup: (file) => forward('lookAtBackup')(webUtils.getPathForFile(file)),
  async saveBackup(id) {
    return (await invoke(channels.save, id)) as string | null;
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

contextBridge.exposeInMainWorld('keyhearth', bridge);

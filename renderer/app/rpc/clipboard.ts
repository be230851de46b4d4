/** The clipboard as a page has it: it may write while it has the focus, and hardly ever read. */

import type { CopyOptions } from '../../../preload/contract.ts';
import { RpcError } from './rpc-error.ts';
import { t } from '../i18n/text.ts';

const secretsStayMs = 30_000;

/** The entry of this tab's sessionStorage that says until when a secret may be on the clipboard. */
const untilKey = 'keyhearth.clipboard';

/** With one of them the page has the focus, or the gesture of a person that some browsers want before they write. */
const chances = ['focus', 'pointerdown', 'keydown'] as const;

/** Ends the clearing that was arranged last. */
let stopClearing = (): void => undefined;

export async function copyInBrowser(text: string, { secret = false }: CopyOptions = {}): Promise<void> {
  await put(text);
  stopClearing();
  if (!secret) return;
  sessionStorage.setItem(untilKey, String(Date.now() + secretsStayMs));
  clearLater(text, secretsStayMs);
}

/** Goes on to clear the clipboard where the page was loaded again meanwhile. The secret itself is kept nowhere. */
export function clearWhatWasCopied(): void {
  const until = Number(sessionStorage.getItem(untilKey) ?? Number.NaN);
  if (!Number.isNaN(until)) clearLater(null, Math.min(Math.max(until - Date.now(), 0), secretsStayMs));
}

async function put(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No permission, or no focus: run the document's own copy command, and answer its event with the text.
    const answer = (event: ClipboardEvent) => {
      event.clipboardData?.setData('text/plain', text);
      event.preventDefault();
    };
    document.addEventListener('copy', answer, { once: true });
    try {
      // oxlint-disable-next-line typescript/no-deprecated -- the only way left where the Clipboard API is refused
      if (!document.execCommand('copy'))
        throw new RpcError(t('The browser blocked copying. Select the text and copy it.'));
    } finally {
      document.removeEventListener('copy', answer);
    }
  }
}

/**
 * Takes a secret off the clipboard when its time is over. Where the browser does not let the page write then, it tries again at
 * the next chance. Where the browser does not let it look, it clears what is there: better another text lost than a secret kept.
 * @param text Null where it is no longer known.
 */
function clearLater(text: string | null, inMs: number): void {
  const clear = async () => {
    if (text === null || (await copied()) === text) await navigator.clipboard.writeText('');
    stopClearing();
  };
  const copied = async () => {
    const { state } = await navigator.permissions
      .query({ name: 'clipboard-read' as PermissionName })
      .catch(() => ({ state: 'denied' }));
    return state === 'granted' ? navigator.clipboard.readText() : text;
  };
  const tryToClear = () => {
    clear().catch(() => undefined);
  };
  const timer = setTimeout(() => {
    for (const chance of chances) window.addEventListener(chance, tryToClear);
    tryToClear();
  }, inMs);
  stopClearing = () => {
    sessionStorage.removeItem(untilKey);
    clearTimeout(timer);
    for (const chance of chances) window.removeEventListener(chance, tryToClear);
    stopClearing = () => undefined;
  };
}

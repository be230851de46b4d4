/** This vault's behavior on this computer: a row for each setting that differs from its default. */
import type { Reader, Writer } from '../connection.ts';

export type SettingName = 'autoLock' | 'doors' | 'limits' | 'network' | 'port' | 'wordsNotShown';

/** @returns the JSON of a setting, or undefined for the default. */
export const getSetting = (tx: Reader, name: SettingName): string | undefined =>
  tx.get<{ readonly value: string }>('SELECT value FROM settings WHERE name = ?', name)?.value;

/** @param value Its JSON. */
export function putSetting(tx: Writer, name: SettingName, value: string, now: number): void {
  tx.run('DELETE FROM settings WHERE name = ?', name);
  tx.run('INSERT INTO settings (name, value, updated_at) VALUES (?, ?, ?)', name, value, now);
}

/**
 * Notes that the words of a keyslot were not shown yet: a process that is killed may end before it shows them.
 * @param keyslotId Once this keyslot is replaced or its words are checked, the note says nothing.
 */
export function noteWordsNotShown(tx: Writer, keyslotId: string, now: number): void {
  putSetting(tx, 'wordsNotShown', JSON.stringify(keyslotId), now);
}

export function forgetWordsNotShown(tx: Writer): void {
  tx.run("DELETE FROM settings WHERE name = 'wordsNotShown'");
}

export const areWordsNotShown = (tx: Reader): boolean =>
  tx.get(
    `SELECT 1 FROM settings AS note JOIN keyslots ON keyslots.id = json_extract(note.value, '$')
     WHERE note.name = 'wordsNotShown' AND keyslots.confirmed_at IS NULL`,
  ) !== undefined;

/** The factor on the usual limits of users, keys and other resources of an organization. */
export const limitsOf = (tx: Reader): number => Number(getSetting(tx, 'limits') ?? 1);

/** True if requests may leave this machine. */
export const isNetworkOn = (tx: Reader): boolean => getSetting(tx, 'network') !== 'false';

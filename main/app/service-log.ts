/** The log of a service: in a file of the vault's directory, and the newest of it in memory for a vault that has none. */
import { makeDirectory } from '../files/directories.ts';
import { LogFile, readLogEnd } from '../files/log-file.ts';
import { causeOf, storageTexts } from '../files/storage-causes.ts';
import { reasonOf } from '../lib/text/reasons.ts';
import { owned } from '../lib/faults.ts';
import { addLogSink, logInfo, logWarning, readStacksWith, setVerbose, type LogEntry } from '../lib/log.ts';
import { version, type Config } from './config.ts';
import { sourceLines } from './source-lines.ts';

/** Each line of an entry after its first is set in, so that no text of one passes for another. */
const formatEntry = ({ level, text }: LogEntry): string =>
  `${new Date().toISOString()} ${level.padEnd(5)} ${text.replaceAll('\n', '\n    ')}\n`;

const mostRecent = 200;
const recent: string[] = [];

/** Keeps a log until it is disposed of. */
export function startServiceLog({ dataDirectory, verbose }: Config): Disposable {
  setVerbose(verbose);
  readStacksWith(sourceLines());
  if (dataDirectory !== null) tryToMake(dataDirectory);
  const file =
    dataDirectory === null
      ? undefined
      : new LogFile(dataDirectory, (error) => {
          const cause = causeOf(error);
          // The state of the disk is reported once, by the code that writes the vault.
          if (cause !== undefined && cause !== 'forbidden') return;
          const why = cause === undefined ? reasonOf(error) : storageTexts[cause].what;
          logWarning(`The log of the service loses entries: ${why}`);
        });
  const flush = owned(() => file?.flush());
  const stop = addLogSink((entry) => {
    const line = formatEntry(entry);
    recent.push(line);
    if (recent.length > mostRecent) recent.shift();
    file?.write(line);
  });
  process.on('exit', flush);
  logInfo(
    `Keyhearth ${version} starts: process ${String(process.pid)}, ${process.platform}, ${process.version}`,
  );
  return {
    [Symbol.dispose]() {
      logInfo('Keyhearth ends');
      process.off('exit', flush);
      stop();
      setVerbose(false);
      file?.[Symbol.dispose]();
    },
  };
}

/** Creates the directory if it can. Opening the vault in it reports why it cannot. */
function tryToMake(directory: string): void {
  try {
    makeDirectory(directory);
  } catch {
    // The log file says that it loses entries.
  }
}

/** @returns the newest entries, of earlier runs too where a file has them. */
export const newestLogLines = (directory: string | null): string =>
  (directory === null ? undefined : readLogEnd(directory)) ?? recent.join('');

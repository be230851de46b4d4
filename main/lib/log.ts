/**
 * The log of this process, the only one. Errors and warnings go to standard error as they are; a service also keeps them in a
 * file (`main/app/service-log.ts`). Nothing of a request but its operation is ever logged, and no secret.
 */
import { visibleText } from './text/visible-text.ts';
import { upTo } from './text/up-to.ts';

/** `debug` is written with `--verbose` alone. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export interface LogEntry {
  readonly level: LogLevel;
  /** Without characters that move the lines of a terminal or a file; it may have several lines. */
  readonly text: string;
}

type Sink = (entry: LogEntry) => void;

/** Characters of one entry: a stack fits, a body does not. */
const longestText = 8192;
const mostCauses = 4;

let isVerbose = false;
let readStack = (stack: string): string => stack;
const sinks = new Set<Sink>();

/** Hands every entry to a sink, which must not throw. @returns the function that stops it. */
export function addLogSink(sink: Sink): () => void {
  sinks.add(sink);
  return () => {
    sinks.delete(sink);
  };
}

/** Switches details on, and copies the log to standard error. */
export function setVerbose(verbose: boolean): void {
  isVerbose = verbose;
}

/** @param read Names the lines of the sources in a stack. */
export function readStacksWith(read: (stack: string) => string): void {
  readStack = read;
}

/** Logs an error that no caller waits for, with its stack and its causes. */
export function logFault(error: unknown, what?: string): void {
  write('error', what === undefined ? describeError(error) : `keyhearth: ${what}: ${describeError(error)}`);
}

/** Logs what the owner should know. */
export function logWarning(text: string): void {
  write('warn', text);
}

/** Logs what happened, for the file. */
export function logInfo(text: string): void {
  write('info', text);
}

/** @param text Called with `--verbose` alone. */
export function logDetail(text: () => string): void {
  if (isVerbose) write('debug', text());
}

function write(level: LogLevel, text: string): void {
  const isLong = text.length > longestText;
  const said = upTo(text, longestText).replaceAll(quotedInput, '… is not valid JSON');
  const entry = { level, text: visibleText(isLong ? `${said} …` : said) };
  if (isVerbose || level === 'error' || level === 'warn') process.stderr.write(`${entry.text}\n`);
  for (const sink of sinks) sink(entry);
}

/**
 * V8's JSON.parse quotes up to 20 characters of its input, which may be a secret: `Unexpected token 's', ..."word": ses"... is not
 * valid JSON`. No other message of it does. Its errors are wrapped, cloned and cut, so every text is searched, with room for a
 * quotation whose characters were escaped. A quotation without its end goes too.
 */
const quotedInput = /Unexpected token [^]{1,12}, (?:\.{3})?\\?"(?:[^]{0,200} is not valid JSON|[^]{0,200})/g;

/** The stack of an error, with lines of the sources where they are known. It begins with the error's own message. */
export const stackOf = (error: Error): string => readStack(error.stack ?? error.message);

/** The stack of an error, and those of its causes. Other properties stay away: a library may have put a request there. */
function describeError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return `${typeof error} thrown: ${String(error)}`;
  const stack = stackOf(error);
  const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  const told = depth < mostCauses ? causes.filter((cause) => cause !== undefined).slice(0, mostCauses) : [];
  return [stack, ...told.map((cause) => `Caused by: ${describeError(cause, depth + 1)}`)].join('\n');
}

/**
 * The command as the person typed it: `keyhearth`, or the launcher of a checkout, `./keyhearth`. Texts say `keyhearth`; what
 * is printed says what can be pasted.
 */

const product = 'keyhearth';

let typed = product;

/** @param launcher The launcher of a checkout as it was started; undefined where none was. */
export function nameCommand(launcher = ''): void {
  const isOurs = /(^|[/\\])keyhearth(\.cmd)?$/.test(launcher) && !/[\p{Cc}']/u.test(launcher);
  typed = isOurs ? quotedForShell(launcher) : product;
}

const quotedForShell = (name: string): string => (/^[\w./\\:~+-]+$/.test(name) ? name : `'${name}'`);

/** Where a text names the command: in backticks, at a line's beginning, or after a colon. */
const mentions = /(?<=^\s*|`|: )keyhearth(?= [a-zA-Z[<-])/gm;

/** @returns the text with commands that can be pasted. */
export const namingCommand = (text: string): string =>
  typed === product ? text : text.replace(mentions, () => typed);

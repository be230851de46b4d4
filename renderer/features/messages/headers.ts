import type { HttpGatewaySettings } from '../../../preload/contract.ts';
import { t } from '../../app/i18n/text.ts';

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

/** @returns what is wrong with headers as they are typed, one a line; null where nothing is. */
export function headerProblem(text: string): string | null {
  const bad = linesOf(text).findIndex((line) => !/^\s*[^\s:]+\s*:/.test(line));
  return bad === -1 ? null : t('Line {{bad}} is not in the form Name: value.', { bad: bad + 1 });
}

export const headersOf = (text: string): HttpGatewaySettings['headers'] =>
  linesOf(text).map((line) => {
    const colon = line.indexOf(':');
    return { name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
  });

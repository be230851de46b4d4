import { messageOf } from '../../app/rpc/rpc-error.ts';
import { translated } from './error-words.ts';

/** @returns an error for a person: translated, or else the service's text without the field that it names. */
export function readable(error: unknown): string {
  const message = messageOf(error);
  const words = translated({ message, code: codeOf(error) });
  if (words !== undefined) return words;
  const bare = message
    .replace(
      /^(?:invalid|missing field) (?:policy \w+|(?:policies|vault|unlock|body|backup|schedule|messages|settings|test)[\w.[\]]*): /,
      '',
    )
    .replace(/(?:^(?:invalid|missing field) )?\bparameters[\w.[\]]*: /, '');
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** A thread for estimates of passwords: typing does not wait for them. It ends with the field that it serves. */

import { guessesFor } from './password-guesses.ts';
import type { Guesses } from './password.ts';

export interface Question {
  readonly password: string;
  readonly known: readonly string[];
}

export interface Estimate extends Guesses {
  /** The password that it is about. */
  readonly password: string;
}

addEventListener('message', ({ data }: MessageEvent<Question>) => {
  const answer: Estimate = { password: data.password, ...guessesFor(data.password, data.known) };
  postMessage(answer);
});

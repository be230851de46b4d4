/** Estimates by zxcvbn. Its lists of words are large, so this runs in a worker (`password-worker.ts`). */

import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary as common } from '@zxcvbn-ts/language-common';
import { dictionary as english } from '@zxcvbn-ts/language-en';
import type { Guesses } from './password.ts';

let estimator: ZxcvbnFactory | undefined;

/** @param known Words that an attacker tries first, such as the vault's name. */
export function guessesFor(password: string, known: readonly string[]): Guesses {
  estimator ??= new ZxcvbnFactory({
    dictionary: { ...common, ...english },
    graphs: adjacencyGraphs,
  });
  const { guessesLog10, feedback } = estimator.check(password, ['keyhearth', ...known]);
  return { power: guessesLog10, weakness: feedback.warning };
}

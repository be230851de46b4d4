/** A policy's draft, as its editors change it. */
import { t } from '../../app/i18n/text.ts';
import type { Answer } from '../../../main/operations/api.ts';

export type Effect = Answer<'get_policy'>['policy']['effect'];

export const effectWords: ReadonlyMap<string, string> = new Map([
  ['EFFECT_ALLOW', t('Allow')],
  ['EFFECT_DENY', t('Deny')],
]);

/** The fields of a policy's form. */
export interface Draft {
  readonly policyName: string;
  readonly effect: Effect;
  readonly condition: string;
  readonly consensus: string;
  readonly time: string;
  readonly notes: string;
}

export const emptyDraft: Draft = {
  policyName: '',
  effect: 'EFFECT_ALLOW',
  condition: '',
  consensus: '',
  time: '',
  notes: '',
};

/** In a template, what its user fills in. */
export const blank = '…';

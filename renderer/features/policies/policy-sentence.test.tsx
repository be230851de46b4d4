import { expect, test } from 'vitest';
import { renderToStaticMarkup } from 'react-dom/server';
import { openForm, type PolicyForm } from '../../../main/lib/policies/policy-form.ts';
import { PolicySentence } from './policy-sentence.tsx';

const nobody = { user: [], userTag: [], wallet: [], key: [], keyTag: [] };

const sentenceOf = (form: PolicyForm): string =>
  renderToStaticMarkup(<PolicySentence form={form} names={nobody} assets={[]} />).replaceAll(/<[^>]*>/g, '');

test('a policy about everything is said as wide as it reaches, whatever its effect', () => {
  expect(sentenceOf(openForm)).toBe('Lets any user do everything.');
  expect(sentenceOf({ ...openForm, effect: 'EFFECT_DENY' })).toBe(
    'Doesn’t let any other user do anything. The root quorum still may.',
  );
});

/** A policy while it is written: as a form or as text, what the service says of it, and what is still open. */
import { useDebouncedValue } from '@mantine/hooks';
import { allOf, t } from '../../app/i18n/text.ts';
import { useDraftState } from '../../app/drafts.ts';
import { areSame } from '../../app/meanwhile.tsx';
import type { Agreement, PolicyForm as Form } from '../../../main/lib/policies/policy-form.ts';
import { blank } from './draft.ts';
import type { Draft } from './draft.ts';
import { aboveLimit, missingOf, textsOf } from './builder/policy-building.ts';
import { editors } from './policy-language.tsx';
import { expressionsOf, usePolicyChecks } from './policy-queries.ts';
import type { Expressions, PolicyCheck } from './policy-queries.ts';

/** Several where a second policy says what is allowed above the limit. */
export type Drafts = readonly [Draft, ...Draft[]];

export interface PolicyDraft {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  /** Undefined where the form can't show all of the text. */
  readonly form: Form | undefined;
  readonly build: (form: Form) => void;
  readonly above: Agreement | null;
  readonly setAbove: (above: Agreement | null) => void;
  readonly mode: 'form' | 'text';
  readonly editText: () => void;
  /** Undefined where the form can't show all of the text. */
  readonly editForm: (() => void) | undefined;
  /** As they are now, of each policy; the checks may be of those a moment before. */
  readonly texts: readonly [Expressions, ...Expressions[]];
  readonly checks: readonly PolicyCheck[];
  readonly isChecked: boolean;
  /** True until it is known how the policy can be edited. */
  readonly isLoading: boolean;
  readonly checkError: Error | null;
  /** True while something is left out that the form asks for. */
  readonly isIncomplete: boolean;
  /** Why it cannot be saved, in words. */
  readonly obstacle: string | undefined;
  /** All that is saved. */
  readonly drafts: () => Drafts;
}

/** Between what is typed and its check, in milliseconds. */
const pause = 250;

/** @param given the form of a new policy; of one that exists, the service reads it. */
export function usePolicyDraft(begun: Draft, given: Form | undefined): PolicyDraft {
  const [draft, setDraft] = useDraftState('draft', begun);
  const [built, setBuilt] = useDraftState('built', given);
  const [chosen, setChosen] = useDraftState<'form' | 'text' | undefined>(
    'chosen',
    given === undefined ? undefined : 'form',
  );
  const [above, setAbove] = useDraftState<Agreement | null>('above', null);

  const textsBy = (form: Form | undefined): PolicyDraft['texts'] => [
    chosen === 'form' && form !== undefined ? textsOf(form) : expressionsOf(draft),
    ...(above !== null && form !== undefined ? [textsOf(aboveLimit(form, above))] : []),
  ];
  const [written] = useDebouncedValue(textsBy(built), pause);
  const check = usePolicyChecks(written);
  const checks = check.data ?? [];
  const isChecked = !check.isPlaceholderData && areSame(written, textsBy(built));
  const read = checks[0]?.form;
  const form = built ?? read;
  const mode = chosen ?? (read === undefined ? 'text' : 'form');
  const texts = textsBy(form);

  const build = (next: Form) => {
    setBuilt(next);
    setChosen('form');
  };
  const editText = () => {
    setDraft({ ...draft, ...texts[0] });
    setBuilt(form);
    setChosen('text');
  };
  /** The form of the text as it is; the one that wrote the text is kept as it was. */
  const readable =
    built !== undefined && areSame(textsOf(built), texts[0]) ? built : isChecked ? read : undefined;
  const editForm =
    readable &&
    (() => {
      build(readable);
    });

  const missing =
    mode === 'form' && form !== undefined
      ? missingOf(above === null ? form : { ...form, agreements: [...form.agreements, above] })
      : [];
  const drafts = (): Drafts => {
    const policyName = draft.policyName.trim();
    const [first, ...others] = texts;
    return [
      { ...draft, policyName, ...first },
      ...others.map((each) => ({
        ...draft,
        policyName: t('{{policyName}}, above the limit', { policyName }),
        ...each,
      })),
    ];
  };
  return {
    draft,
    set: (change) => {
      setDraft({ ...draft, ...change });
    },
    form,
    build,
    above,
    setAbove,
    mode,
    editText,
    editForm,
    texts,
    checks,
    isChecked,
    isLoading: chosen === undefined && check.isPending,
    checkError: check.error,
    isIncomplete: missing.length > 0,
    obstacle: obstacleOf(missing, mode === 'text' ? draft : undefined, checks),
    drafts,
  };
}

/** @param text as it is written by hand. */
function obstacleOf(
  missing: readonly string[],
  text: Draft | undefined,
  checks: readonly PolicyCheck[],
): string | undefined {
  if (missing.length > 0) return missing.join(' ');
  const open = text === undefined ? [] : editors.filter(({ field }) => text[field].includes(blank));
  if (open.length > 0) {
    return t('Replace each “{{blank}}” first: {{fields}}.', {
      blank,
      fields: allOf(open.map(({ label }) => label)),
    });
  }
  return checks.some(({ problems }) => problems.length > 0)
    ? t('Fix the underlined errors first.')
    : undefined;
}

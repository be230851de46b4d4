/** The form of a policy: as a form where one says all of the policy, or as text. */
import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Fieldset, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { aboveLimit, missingOf, textsOf } from './builder/policy-building.ts';
import { PolicyBuilder } from './builder/policy-builder.tsx';
import type { PolicyField } from './policy-completion.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { useKnownNames } from './policy-names.tsx';
import { PolicySentence } from './policy-sentence.tsx';
import { PolicyTrial } from './policy-trial.tsx';
import {
  asDraft,
  checkOf,
  expressionsOf,
  useKnownIds,
  useLanguage,
  usePolicyChecks,
} from './policy-queries.ts';
import type { Expressions, PolicyCheck } from './policy-queries.ts';
import { blank, effectWords } from './draft.ts';
import type { Draft } from './draft.ts';
import type { Agreement, PolicyForm as Form } from '../../../main/lib/policies/policy-form.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { useDraftState } from '../../app/drafts.ts';
import { areSame, ChangedMeanwhile, useMeanwhile } from '../../app/meanwhile.tsx';
import type { Meanwhile } from '../../app/meanwhile.tsx';
import { allOf, t } from '../../app/i18n/text.ts';
import { useApiQuery, useRpc } from '../../app/rpc/vault.tsx';

type Drafts = readonly [Draft, ...Draft[]];

interface FormProps {
  readonly begun: Draft;
  /** Of a new policy; of one that exists, the service reads it. */
  readonly form: Form | undefined;
  /** Of a policy that is there. */
  readonly policyId: string | undefined;
  readonly busy: boolean;
  readonly done: boolean;
  readonly error: Error | null;
  readonly failed: string;
  readonly does: string;
  /** Several where a second policy says what is allowed above the limit. */
  readonly onSubmit: (drafts: Drafts, meanwhile: Meanwhile<Draft>) => void;
  /** Begins again, with what is saved now. */
  readonly onTake: () => void;
}

const editors: readonly { readonly field: PolicyField; readonly label: string; readonly about: string }[] = [
  {
    field: 'condition',
    label: t('Condition'),
    about: t('When does this apply? Leave empty for everything.'),
  },
  {
    field: 'consensus',
    label: t('Consensus'),
    about: t('Who must approve, the requester included. Leave empty for anyone alone.'),
  },
  {
    field: 'time',
    label: t('Time'),
    about: t('When is the policy in force? Leave empty for always.'),
  },
];

const labels = {
  policyName: t('Name'),
  effect: t('Effect'),
  condition: t('Condition'),
  consensus: t('Consensus'),
  time: t('Time'),
  notes: t('Notes'),
} as const;

/** Between what is typed and its check, in milliseconds. */
const pause = 250;

export function PolicyForm(props: FormProps): ReactNode {
  const { begun, policyId, busy, done, error, failed, does, onSubmit, onTake } = props;
  const [draft, setDraft] = useDraftState('draft', begun);
  const [built, setBuilt] = useDraftState('built', props.form);
  const [chosen, setChosen] = useDraftState<'form' | 'text' | undefined>(
    'chosen',
    props.form === undefined ? undefined : 'form',
  );
  const [above, setAbove] = useDraftState<Agreement | null>('above', null);
  const [tried, setTried] = useState(false);
  const [asking, setAsking] = useState<{ readonly drafts: Drafts; readonly check: PolicyCheck } | null>(null);
  const rpc = useRpc();
  const saving = useAsyncAction();
  const names = useKnownNames();
  const language = useLanguage();
  const all = useApiQuery('list_policies');
  const taken = all.data?.policies
    .filter((policy) => policy.policyId !== policyId)
    .map(({ policyName }) => policyName);

  const current = (form: Form | undefined): readonly [Expressions, ...Expressions[]] => [
    chosen === 'form' && form !== undefined ? textsOf(form) : expressionsOf(draft),
    ...(above !== null && form !== undefined ? [textsOf(aboveLimit(form, above))] : []),
  ];
  const [written] = useDebouncedValue(current(built), pause);
  const check = usePolicyChecks(written);
  const [found, second] = check.data ?? [];
  const isCurrent = !check.isPlaceholderData && areSame(written, current(built));
  const form = built ?? found?.form;
  const mode = chosen ?? (found?.form === undefined ? 'text' : 'form');
  const texts = current(form);
  const meanwhile = useMeanwhile({
    saved: begun,
    typed: { ...draft, ...texts[0] },
    isSaving: busy,
    onTake,
  });

  const set = (change: Partial<Draft>) => {
    setDraft({ ...draft, ...change });
  };
  const build = (next: Form) => {
    setBuilt(next);
    setChosen('form');
  };
  /** The form of the text as it is; the one that wrote the text is kept as it was. */
  const readable =
    built !== undefined && areSame(textsOf(built), texts[0]) ? built : isCurrent ? found?.form : undefined;
  const problem = done ? null : nameProblem(draft.policyName, taken);
  const missing =
    mode === 'form' && form !== undefined
      ? missingOf(above === null ? form : { ...form, agreements: [...form.agreements, above] })
      : [];
  const open = mode === 'form' ? [] : editors.filter(({ field }) => draft[field].includes(blank));
  const wrong = (found?.problems.length ?? 0) + (second?.problems.length ?? 0);
  const obstacle =
    missing.length > 0
      ? missing.join(' ')
      : open.length > 0
        ? t('Replace each “{{blank}}” first: {{fields}}.', {
            blank,
            fields: allOf(open.map(({ label }) => label)),
          })
        : wrong > 0
          ? t('Fix the underlined errors first.')
          : undefined;
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
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || obstacle !== undefined || meanwhile.isOutdated) return;
    const [first, ...others] = drafts();
    saving.run(async () => {
      // Of the very text that is saved, and not of one that was checked before.
      const checks = await checkOf(rpc, [
        asDraft(first, policyId),
        ...others.map((each) => asDraft(each, undefined)),
      ]);
      if (checks.some(({ problems }) => problems.length > 0)) return;
      const wide = checks.find(isWide);
      if (wide === undefined) onSubmit([first, ...others], meanwhile);
      else setAsking({ drafts: [first, ...others], check: wide });
    });
  };
  const whole = (found?.warnings ?? []).filter(({ field }) => field === undefined);
  const [{ consensus, effect }] = texts;

  if (chosen === undefined && check.isPending) {
    return (
      <Panel kind="plain">
        <LoadingRows label={t('Loading the policy')} />
      </Panel>
    );
  }
  return (
    <>
      <OutcomeForm
        onSubmit={submit}
        outcomes={[
          effect === 'EFFECT_ALLOW'
            ? t('Allowed unless another policy denies.')
            : t('Only the root quorum may do this.'),
          consensus.trim() === ''
            ? t('No approval is required.')
            : t('Requests wait until enough users approve. A user’s own request counts as approval.'),
          t('In force from the next request on.'),
          ...whole.map(({ message }) => (
            <strong key={message} translate="no">
              {message}
            </strong>
          )),
        ]}
      >
        <NameField
          value={draft.policyName}
          problem={tried || draft.policyName !== '' ? problem : null}
          others={taken}
          onType={(policyName) => {
            set({ policyName });
          }}
        />
        <div>
          <SegmentedControl
            aria-label={t('Edit as')}
            value={mode}
            onChange={(value) => {
              if (value === 'text') {
                setDraft({ ...draft, ...texts[0] });
                setBuilt(form);
                setChosen('text');
              } else if (readable !== undefined) build(readable);
            }}
            data={[
              { value: 'form', label: t('Form'), disabled: mode === 'text' && readable === undefined },
              { value: 'text', label: t('Text') },
            ]}
          />
          {mode === 'text' && readable === undefined && (
            <Text size="sm" c="dimmed" mt="xs">
              {t('The form can’t show all of this policy, so you edit it as text.')}
            </Text>
          )}
        </div>
        {mode === 'form' && form !== undefined ? (
          <PolicyBuilder
            form={form}
            onChange={build}
            above={policyId === undefined ? above : undefined}
            onAbove={setAbove}
            names={names}
            assets={language?.assets ?? []}
            tried={tried}
          />
        ) : (
          <Language draft={draft} set={set} found={found} />
        )}
        <div className="kh-says" role="status" aria-busy={!isCurrent} aria-label={t('What the policy says')}>
          <Says
            check={missing.length > 0 ? undefined : found}
            names={names}
            assets={language?.assets ?? []}
          />
          {missing.length === 0 && second !== undefined && (
            <div style={{ marginBlockStart: '0.5rem' }}>
              <Says check={second} names={names} assets={language?.assets ?? []} />
            </div>
          )}
        </div>
        <Textarea
          label={t('Notes')}
          autosize
          minRows={1}
          value={draft.notes}
          onChange={(event) => {
            set({ notes: event.currentTarget.value });
          }}
        />
        <ChangedMeanwhile
          meanwhile={meanwhile}
          saved={begun}
          labels={labels}
          words={{ effect: effectWords }}
          onTake={onTake}
        />
        {tried && obstacle !== undefined && (
          <Text size="sm" role="alert">
            {obstacle}
          </Text>
        )}
        <Failure title={t('Couldn’t check the policy')} error={check.error ?? saving.error} />
        <FormEnd failed={failed} error={error} busy={busy || saving.isPending} does={does} back="/policies" />
      </OutcomeForm>
      <Dialog
        opened={asking !== null}
        onClose={() => {
          setAsking(null);
        }}
        title={t('This policy reaches far')}
        size="lg"
      >
        {asking !== null && (
          <Stack gap="md">
            <Says check={asking.check} names={names} assets={language?.assets ?? []} />
            {asking.check.forAnyUser && (
              <Text>{t('Every user may use this policy alone, users created later too.')}</Text>
            )}
            {asking.check.widensBots.length > 0 && (
              <Text>
                {t('It may allow payments beyond the budget of: {{bots}}.', {
                  bots: allOf(
                    asking.check.widensBots.map(
                      (id) => names.user.find((each) => each.id === id)?.label ?? id.slice(-4),
                    ),
                  ),
                })}
              </Text>
            )}
            <Group justify="end">
              <Button
                variant="default"
                data-autofocus
                onClick={() => {
                  setAsking(null);
                }}
              >
                {t('Back to the policy')}
              </Button>
              <Button
                color="red"
                onClick={() => {
                  setAsking(null);
                  onSubmit(asking.drafts, meanwhile);
                }}
              >
                {t('Confirm')}
              </Button>
            </Group>
          </Stack>
        )}
      </Dialog>
      <PolicyTrial
        drafts={drafts().map((each, index) => asDraft(each, index === 0 ? policyId : undefined))}
        obstacle={obstacle}
      />
    </>
  );
}

const isWide = ({ forAnyUser, widensBots }: PolicyCheck): boolean => forAnyUser || widensBots.length > 0;

/** The policy in words, read from its text by the service. */
function Says({
  check,
  ...known
}: {
  readonly check: PolicyCheck | undefined;
} & Omit<Parameters<typeof PolicySentence>[0], 'form'>): ReactNode {
  if (check?.form !== undefined) return <PolicySentence form={check.form} {...known} />;
  return (
    <Text size="sm" c="dimmed">
      {check !== undefined && check.problems.length === 0
        ? t('No sentence says all of this policy.')
        : t('A sentence appears here once the policy is complete.')}
    </Text>
  );
}

function Language({
  draft,
  set,
  found,
}: {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
  readonly found: PolicyCheck | undefined;
}): ReactNode {
  const language = useLanguage();
  const ids = useKnownIds();
  return (
    <>
      <Fieldset legend={t('Effect')} variant="unstyled">
        <SegmentedControl
          aria-label={t('Effect')}
          value={draft.effect}
          onChange={(value) => {
            set({ effect: value });
          }}
          data={[
            { value: 'EFFECT_ALLOW', label: t('Allow') },
            { value: 'EFFECT_DENY', label: t('Deny') },
          ]}
        />
        <Text size="sm" c="dimmed" mt="xs">
          {t('Deny overrides allow.')}
        </Text>
      </Fieldset>
      {editors.map(({ field, label, about }) => (
        <PolicyEditor
          key={field}
          field={field}
          label={label}
          description={about}
          value={draft[field]}
          onType={(value) => {
            set({ [field]: value });
          }}
          problem={found?.problems.find((each) => each.field === field)}
          warnings={(found?.warnings ?? []).filter((each) => each.field === field)}
          language={language}
          ids={ids}
        />
      ))}
    </>
  );
}

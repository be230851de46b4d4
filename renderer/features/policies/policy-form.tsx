/** The form of a policy: as a form where one says all of the policy, or as text. */
import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { ChangedMeanwhile, useMeanwhile } from '../../app/meanwhile.tsx';
import type { Meanwhile } from '../../app/meanwhile.tsx';
import { allOf, t } from '../../app/i18n/text.ts';
import { useApiQuery, useRpc } from '../../app/rpc/vault.tsx';
import type { PolicyForm as Form } from '../../../main/lib/policies/policy-form.ts';
import { effectWords } from './draft.ts';
import type { Draft } from './draft.ts';
import { PolicyBuilder } from './builder/policy-builder.tsx';
import { PolicyLanguage } from './policy-language.tsx';
import { useKnownNames } from './policy-names.tsx';
import { PolicySentence } from './policy-sentence.tsx';
import { PolicyTrial } from './policy-trial.tsx';
import { asDraft, checkOf, useLanguage } from './policy-queries.ts';
import type { Expressions, PolicyCheck } from './policy-queries.ts';
import { usePolicyDraft } from './use-policy-draft.ts';
import type { Drafts, PolicyDraft } from './use-policy-draft.ts';

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
  readonly onSubmit: (drafts: Drafts, meanwhile: Meanwhile<Draft>) => void;
  /** Begins again, with what is saved now. */
  readonly onTake: () => void;
}

const labels = {
  policyName: t('Name'),
  effect: t('Effect'),
  condition: t('Condition'),
  consensus: t('Consensus'),
  time: t('Time'),
  notes: t('Notes'),
} as const;

export function PolicyForm(props: FormProps): ReactNode {
  const { begun, policyId, busy, done, error, failed, does, onSubmit, onTake } = props;
  const policy = usePolicyDraft(begun, props.form);
  const { draft, set, texts, obstacle, drafts } = policy;
  const [tried, setTried] = useState(false);
  const [asking, setAsking] = useState<Asking | null>(null);
  const rpc = useRpc();
  const saving = useAsyncAction();
  const all = useApiQuery('list_policies');
  const taken = all.data?.policies
    .filter((each) => each.policyId !== policyId)
    .map(({ policyName }) => policyName);
  const problem = done ? null : nameProblem(draft.policyName, taken);
  const meanwhile = useMeanwhile({
    saved: begun,
    typed: { ...draft, ...texts[0] },
    isSaving: busy,
    onTake,
  });

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

  if (policy.isLoading) {
    return (
      <Panel kind="plain">
        <LoadingRows label={t('Loading the policy')} />
      </Panel>
    );
  }
  return (
    <>
      <OutcomeForm onSubmit={submit} outcomes={outcomesOf(texts[0], policy.checks[0])}>
        <NameField
          value={draft.policyName}
          problem={tried || draft.policyName !== '' ? problem : null}
          others={taken}
          onType={(policyName) => {
            set({ policyName });
          }}
        />
        <EditAs policy={policy} />
        <Editor policy={policy} isNew={policyId === undefined} tried={tried} />
        <WhatItSays policy={policy} />
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
        <Failure title={t('Couldn’t check the policy')} error={policy.checkError ?? saving.error} />
        <FormEnd failed={failed} error={error} busy={busy || saving.isPending} does={does} back="/policies" />
      </OutcomeForm>
      <ConfirmWide
        asking={asking}
        onClose={() => {
          setAsking(null);
        }}
        onConfirm={(confirmed) => {
          setAsking(null);
          onSubmit(confirmed, meanwhile);
        }}
      />
      <PolicyTrial
        drafts={drafts().map((each, index) => asDraft(each, index === 0 ? policyId : undefined))}
        obstacle={obstacle}
      />
    </>
  );
}

function outcomesOf(
  { effect, consensus }: Expressions,
  check: PolicyCheck | undefined,
): readonly ReactNode[] {
  const whole = (check?.warnings ?? []).filter(({ field }) => field === undefined);
  return [
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
  ];
}

interface PartProps {
  readonly policy: PolicyDraft;
}

function EditAs({ policy: { mode, editText, editForm } }: PartProps): ReactNode {
  const isTextOnly = mode === 'text' && editForm === undefined;
  return (
    <div>
      <SegmentedControl
        aria-label={t('Edit as')}
        value={mode}
        onChange={(value) => {
          if (value === 'text') editText();
          else editForm?.();
        }}
        data={[
          { value: 'form', label: t('Form'), disabled: isTextOnly },
          { value: 'text', label: t('Text') },
        ]}
      />
      {isTextOnly && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('The form can’t show all of this policy, so you edit it as text.')}
        </Text>
      )}
    </div>
  );
}

function Editor({
  policy,
  isNew,
  tried,
}: PartProps & { readonly isNew: boolean; readonly tried: boolean }): ReactNode {
  const { mode, form, draft, set, checks } = policy;
  const names = useKnownNames();
  const language = useLanguage();
  if (mode === 'text' || form === undefined) {
    return <PolicyLanguage draft={draft} set={set} check={checks[0]} />;
  }
  return (
    <PolicyBuilder
      form={form}
      onChange={policy.build}
      above={isNew ? policy.above : undefined}
      onAbove={policy.setAbove}
      names={names}
      assets={language?.assets ?? []}
      tried={tried}
    />
  );
}

/** Each policy in words. */
function WhatItSays({ policy: { checks, isChecked, isIncomplete } }: PartProps): ReactNode {
  const [first, second] = checks;
  return (
    <div className="kh-says" role="status" aria-busy={!isChecked} aria-label={t('What the policy says')}>
      <Says check={isIncomplete ? undefined : first} />
      {!isIncomplete && second !== undefined && (
        <div style={{ marginBlockStart: '0.5rem' }}>
          <Says check={second} />
        </div>
      )}
    </div>
  );
}

/** The policy in words, read from its text by the service. */
function Says({ check }: { readonly check: PolicyCheck | undefined }): ReactNode {
  const names = useKnownNames();
  const language = useLanguage();
  if (check?.form !== undefined) {
    return <PolicySentence form={check.form} names={names} assets={language?.assets ?? []} />;
  }
  return (
    <Text size="sm" c="dimmed">
      {check !== undefined && check.problems.length === 0
        ? t('No sentence says all of this policy.')
        : t('A sentence appears here once the policy is complete.')}
    </Text>
  );
}

/** The drafts that are saved once they are confirmed, and the check that says how far they reach. */
interface Asking {
  readonly drafts: Drafts;
  readonly check: PolicyCheck;
}

const isWide = ({ forAnyUser, widensBots }: PolicyCheck): boolean => forAnyUser || widensBots.length > 0;

interface ConfirmProps {
  readonly asking: Asking | null;
  readonly onClose: () => void;
  readonly onConfirm: (drafts: Drafts) => void;
}

function ConfirmWide({ asking, onClose, onConfirm }: ConfirmProps): ReactNode {
  const names = useKnownNames();
  const nameOf = (id: string) => names.user.find((each) => each.id === id)?.label ?? id.slice(-4);
  return (
    <Dialog opened={asking !== null} onClose={onClose} title={t('This policy reaches far')} size="lg">
      {asking !== null && (
        <Stack gap="md">
          <Says check={asking.check} />
          {asking.check.forAnyUser && (
            <Text>{t('Every user may use this policy alone, users created later too.')}</Text>
          )}
          {asking.check.widensBots.length > 0 && (
            <Text>
              {t('It may allow payments beyond the budget of: {{bots}}.', {
                bots: allOf(asking.check.widensBots.map(nameOf)),
              })}
            </Text>
          )}
          <Group justify="end">
            <Button variant="default" data-autofocus onClick={onClose}>
              {t('Back to the policy')}
            </Button>
            <Button
              color="red"
              onClick={() => {
                onConfirm(asking.drafts);
              }}
            >
              {t('Confirm')}
            </Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Fieldset, SegmentedControl, Stack, Text, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { FormEnd } from '../../ui/form-end.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DangerZone, DangerAction } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { ObjectTabs } from '../activity/object-tabs.tsx';
import { Expectations, PageHead, Panel } from '../../ui/page.tsx';
import type { ActivityParameters } from '../../../main/operations/api.ts';
import type { PolicyField } from './policy-completion.ts';
import { PolicyEditor } from './policy-editor.tsx';
import { policyTemplates } from './policy-templates.ts';
import { PolicyTrial } from './policy-trial.tsx';
import { asDraft, blank, emptyDraft, useKnownIds, useLanguage } from './policy-queries.ts';
import type { Draft, Policy as PolicyRecord } from './policy-queries.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { allOf, t, Trans } from '../../app/i18n/text.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';

/** @param template The id of what to begin with. */
export function NewPolicy({ template }: { readonly template: string | undefined }): ReactNode {
  const [, navigate] = useLocation();
  const begun = policyTemplates.find(({ id }) => id === template)?.draft;
  const create = useSubmit('ACTIVITY_TYPE_CREATE_POLICY_V3');
  return (
    <>
      <PageHead
        title={t('Create policy')}
        back={{ to: '/policies', label: t('Policies') }}
        lead={
          begun !== undefined && t('Replace each “{{blank}}”. Start typing a name to pick it.', { blank })
        }
      />
      <PolicyForm
        begun={{ ...emptyDraft, ...begun }}
        policyId={undefined}
        busy={create.isPending}
        done={create.isSuccess}
        error={create.error}
        failed={t('Couldn’t create the policy')}
        does={t('Create policy')}
        onSubmit={(draft) => {
          create.mutate(draft, {
            onSuccess() {
              notifications.show({
                title: t('Policy created'),
                message: t('“{{policyName}}” is in force.', { policyName: draft.policyName }),
              });
              navigate('/policies', { replace: true });
            },
          });
        }}
      />
    </>
  );
}

export function Policy({ policyId }: { readonly policyId: string }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_policy', { policyId });
  const policy = data?.policy;
  return (
    <>
      <PageHead
        title={policy?.policyName ?? t('Policy')}
        back={{ to: '/policies', label: t('Policies') }}
        lead={
          policy !== undefined && (
            <>
              <Trans
                i18nKey="<shortId/> · created <moment/>"
                components={{
                  shortId: <ShortId text={policyId} copy={t('Copy policy ID')} />,
                  moment: <RelativeTime at={policy.createdAt} />,
                }}
              />
            </>
          )
        }
      />
      <ObjectTabs of={`/policies/${policyId}`} />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the policy')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the policy')} error={error} onRetry={() => void refetch()} />
      {policy !== undefined && (
        <>
          <ChangePolicy of={policy} key={`${policy.updatedAt.seconds}.${policy.updatedAt.nanos}`} />
          <ManagePolicy of={policy} />
        </>
      )}
    </>
  );
}

function ChangePolicy({ of }: { readonly of: PolicyRecord }): ReactNode {
  const update = useSubmit('ACTIVITY_TYPE_UPDATE_POLICY_V2');
  return (
    <PolicyForm
      begun={{ ...emptyDraft, ...of }}
      policyId={of.policyId}
      busy={update.isPending}
      done={false}
      error={update.error}
      failed={t('Couldn’t update the policy')}
      does={t('Save changes')}
      onSubmit={(draft) => {
        update.mutate(changeTo(of.policyId, draft), {
          onSuccess() {
            sayDone({
              title: t('Policy updated'),
              message: t('“{{policyName}}” is in force.', { policyName: draft.policyName }),
              undo: () => update.mutateAsync(changeTo(of.policyId, { ...emptyDraft, ...of })),
            });
          },
        });
      }}
    />
  );
}

/** Changes a policy to the draft's values. */
const changeTo = (
  policyId: string,
  { policyName, effect, condition, consensus, time, notes }: Draft,
): ActivityParameters<'ACTIVITY_TYPE_UPDATE_POLICY_V2'> => ({
  policyId,
  policyName,
  policyEffect: effect,
  policyCondition: condition,
  policyConsensus: consensus,
  policyNotes: notes,
  time,
});

function ManagePolicy({ of: { policyId, policyName, effect } }: { readonly of: PolicyRecord }): ReactNode {
  const [, navigate] = useLocation();
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_POLICY');
  return (
    <DangerZone>
      <DangerAction
        name={t('Delete')}
        about={t('Takes effect with the next request.')}
        title={t('Delete “{{policyName}}”', { policyName })}
        danger
      >
        {(close) => (
          <DeleteForm
            what="policy"
            outcomes={[
              effect === 'EFFECT_DENY'
                ? t('Activities it denies follow the other policies.')
                : t('Activities it allows are denied, unless another policy allows them.'),
              t('The remaining policies decide pending requests.'),
              t('This can’t be undone.'),
            ]}
            confirm={{ text: policyName, as: 'name' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { policyId },
                {
                  onSuccess() {
                    close();
                    notifications.show({
                      title: t('Policy deleted'),
                      message: t('“{{policyName}}”', { policyName }),
                    });
                    navigate('/policies', { replace: true });
                  },
                },
              );
            }}
          />
        )}
      </DangerAction>
    </DangerZone>
  );
}

interface FormProps {
  readonly begun: Draft;
  /** Of a policy that is there. */
  readonly policyId: string | undefined;
  readonly busy: boolean;
  readonly done: boolean;
  readonly error: Error | null;
  readonly failed: string;
  readonly does: string;
  readonly onSubmit: (draft: Draft) => void;
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

/** Between what is typed and its check, in milliseconds. */
const pause = 250;

function PolicyForm({ begun, policyId, busy, done, error, failed, does, onSubmit }: FormProps): ReactNode {
  const [draft, setDraft] = useState(begun);
  const [tried, setTried] = useState(false);
  const language = useLanguage();
  const ids = useKnownIds();
  const all = useApiQuery('list_policies');
  const taken = all.data?.policies
    .filter((policy) => policy.policyId !== policyId)
    .map(({ policyName }) => policyName);
  const { effect, condition, consensus, time } = draft;
  const [written] = useDebouncedValue({ effect, condition, consensus, time }, pause);
  const check = useApiQuery('check_policies', { policies: [written] });
  const [found] = check.data?.policyChecks ?? [];
  const set = (change: Partial<Draft>) => {
    setDraft({ ...draft, ...change });
  };
  const problem = done ? null : nameProblem(draft.policyName, taken);
  const open = editors.filter(({ field }) => draft[field].includes(blank));
  const wrong = found?.problems.length ?? 0;
  const obstacle =
    open.length > 0
      ? t('Replace each “{{blank}}” first: {{fields}}.', {
          blank,
          fields: allOf(open.map(({ label }) => label)),
        })
      : wrong > 0
        ? t('Fix the underlined errors first.')
        : undefined;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || obstacle !== undefined) return;
    onSubmit({ ...draft, policyName: draft.policyName.trim() });
  };
  const whole = (found?.warnings ?? []).filter(({ field }) => field === undefined);

  return (
    <>
      <form onSubmit={submit} noValidate className="kh-beside">
        <Panel>
          <Stack gap="lg">
            <NameField
              value={draft.policyName}
              problem={tried || draft.policyName !== '' ? problem : null}
              description={t('A unique name.')}
              others={taken}
              onType={(policyName) => {
                set({ policyName });
              }}
            />
            <Fieldset legend={t('Effect')} variant="unstyled">
              <SegmentedControl
                aria-label={t('Effect')}
                value={effect}
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
            <Textarea
              label={t('Notes')}
              description={t('For people only.')}
              autosize
              minRows={2}
              value={draft.notes}
              onChange={(event) => {
                set({ notes: event.currentTarget.value });
              }}
            />
            {tried && obstacle !== undefined && (
              <Text size="sm" role="alert">
                {obstacle}
              </Text>
            )}
            <Failure title={t('Couldn’t check the policy')} error={check.error} />
            <FormEnd failed={failed} error={error} busy={busy} does={does} back="/policies" />
          </Stack>
        </Panel>
        <aside>
          <Expectations
            items={[
              effect === 'EFFECT_ALLOW'
                ? t('Allowed unless another policy denies.')
                : t('Only the root quorum may do this.'),
              consensus.trim() === ''
                ? t('No approval is required.')
                : t('Requests wait until enough users approve.'),
              t('In force from the next request on.'),
              ...whole.map(({ message }) => (
                <strong key={message} translate="no">
                  {message}
                </strong>
              )),
            ]}
          />
        </aside>
      </form>
      <PolicyTrial drafts={[asDraft(draft, policyId)]} obstacle={obstacle} />
    </>
  );
}

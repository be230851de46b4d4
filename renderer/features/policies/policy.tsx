import { useReducer } from 'react';
import type { ReactNode } from 'react';
import { NativeSelect } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useLocation } from 'wouter';
import { ShortId } from '../../ui/identifier.tsx';
import { DeleteForm, DangerZone, DangerAction } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ObjectTabs } from '../activity/object-tabs.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import type { ActivityParameters } from '../../../main/operations/api.ts';
import { newBuilding, textsOf } from './builder/policy-building.ts';
import { BudgetMeters } from './budget-meters.tsx';
import { PolicyForm } from './policy-form.tsx';
import { policyTemplates } from './policy-templates.ts';
import { emptyDraft } from './draft.ts';
import type { Draft } from './draft.ts';
import type { Policy as PolicyRecord } from './policy-queries.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { areSame } from '../../app/meanwhile.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { queryApi, useApiQuery, useRpc, useSubmit } from '../../app/rpc/vault.tsx';

/** @param template The id of what to begin with. */
export function NewPolicy({ template }: { readonly template: string | undefined }): ReactNode {
  const [, navigate] = useLocation();
  const begun = policyTemplates.find(({ id }) => id === template);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_POLICIES');
  const form = begun?.form ?? newBuilding;
  return (
    <>
      <PageHead
        title={t('Create policy')}
        back={{ to: '/policies', label: t('Policies') }}
        action={
          <NativeSelect
            label={t('Template')}
            value={begun?.id ?? ''}
            data={[
              { value: '', label: t('Payments, from scratch') },
              ...policyTemplates.map(({ id, title }) => ({ value: id, label: title })),
            ]}
            onChange={({ currentTarget }) => {
              navigate(`/policies/new/${currentTarget.value}`.replace(/\/$/, ''), { replace: true });
            }}
          />
        }
      />
      <PolicyForm
        begun={{ ...emptyDraft, policyName: begun?.title ?? '', ...textsOf(form) }}
        form={form}
        policyId={undefined}
        busy={create.isPending}
        done={create.isSuccess}
        error={create.error}
        failed={t('Couldn’t create the policy')}
        does={t('Create policy')}
        onSubmit={(policies) => {
          create.mutate(
            { policies },
            {
              onSuccess() {
                const [first] = policies;
                notifications.show({
                  title: t('Policy created'),
                  message: t('“{{policyName}}” is in force.', { policyName: first.policyName }),
                });
                navigate('/policies', { replace: true });
              },
            },
          );
        }}
        onTake={() => undefined}
      />
    </>
  );
}

export function Policy({ policyId }: { readonly policyId: string }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_policy', { policyId });
  const policy = data?.policy;
  const readNow = async (): Promise<PolicyRecord> => {
    const { data: now } = await refetch({ throwOnError: true });
    if (now === undefined) throw new Error(t('Couldn’t load the policy'));
    return now.policy;
  };
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
          <BudgetMeters of={policy} />
          <ChangePolicy of={policy} readNow={readNow} />
          <ManagePolicy of={policy} />
        </>
      )}
    </>
  );
}

interface ChangeProps {
  readonly of: PolicyRecord;
  /** Asks the vault, and shows what it answers. */
  readonly readNow: () => Promise<PolicyRecord>;
}

const draftOf = (of: PolicyRecord): Draft => {
  const { policyName, effect, condition, consensus, time, notes } = { ...emptyDraft, ...of };
  return { policyName, effect, condition, consensus, time, notes };
};

function ChangePolicy({ of, readNow }: ChangeProps): ReactNode {
  const rpc = useRpc();
  const [round, restart] = useReducer((rounds: number) => rounds + 1, 0);
  const update = useSubmit('ACTIVITY_TYPE_UPDATE_POLICY_V2');
  const saving = useAsyncAction();
  return (
    <PolicyForm
      key={round}
      begun={draftOf(of)}
      form={undefined}
      policyId={of.policyId}
      busy={saving.isPending}
      done={false}
      error={saving.error}
      failed={t('Couldn’t update the policy')}
      does={t('Save changes')}
      onTake={restart}
      onSubmit={([draft], { begun, save }) => {
        const change = changeTo(of.policyId, draft);
        saving.run(async () => {
          const isSaved = await save({
            sent: draft,
            readNow: async () => draftOf(await readNow()),
            send: () => update.mutateAsync({ ...change, expected: fieldsOf(begun) }),
          });
          if (!isSaved) return;
          sayDone({
            title: t('Policy updated'),
            message: t('“{{policyName}}” is in force.', { policyName: draft.policyName }),
            isAsDone: async () => {
              const { policy } = await queryApi(rpc, 'get_policy', { policyId: of.policyId });
              return areSame(changeTo(of.policyId, draftOf(policy)), change);
            },
            undo: () => update.mutateAsync({ ...changeTo(of.policyId, begun), expected: fieldsOf(draft) }),
          });
        });
      }}
    />
  );
}

/** The policy as it was read: the vault refuses a change of any other. */
const fieldsOf = (draft: Draft) => {
  const { policyId: _, ...fields } = changeTo('', draft);
  return fields;
};

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

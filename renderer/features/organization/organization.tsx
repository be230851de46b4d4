import { useRef, useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { featureLabel, features as known } from './feature-words.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { describeQuorum } from './quorum.ts';
import type { Feature, Quorum } from '../../app/rpc/resources.ts';
import { shorten } from '../../ui/text/short.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { ChangedMeanwhile, useMeanwhile } from '../../app/meanwhile.tsx';
import { sayDone } from '../../app/shell/undo.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { queryApi, useApiQuery, useRpc, useStatus, useStatusQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';
import '../../ui/rows.css';

/** The organization, as users of the API see it: a name and an id, its quorum, and its settings. */
export function Organization(): ReactNode {
  const { organization } = useStatus();
  const { data, error, isPending, refetch } = useApiQuery('get_organization_configs');
  return (
    <>
      <PageHead
        title={t('Organization')}
        lead={
          organization !== null && (
            <>
              <Trans
                i18nKey="Everything in this vault belongs to one organization. <shortId/>"
                components={{ shortId: <ShortId text={organization.id} copy={t('Copy organization ID')} /> }}
              />
            </>
          )
        }
      />
      {organization !== null && <Rename name={organization.name} />}
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the organization')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the organization')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && (
        <>
          <RootQuorum of={data.configs.quorum} />
          <Features present={data.configs.features} />
        </>
      )}
    </>
  );
}

function Rename({ name }: { readonly name: string }): ReactNode {
  const rpc = useRpc();
  const { refetch } = useStatusQuery();
  const [typed, setTyped] = useState(name);
  const saving = useAsyncAction();
  const update = useSubmit('ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME');
  const given = typed.trim();
  const problem = nameProblem(typed);
  const saved = { name };
  const take = () => {
    setTyped(name);
  };
  const meanwhile = useMeanwhile({
    saved,
    typed: { name: given },
    isSaving: saving.isPending,
    onTake: take,
  });
  const { begun } = meanwhile;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null || meanwhile.isOutdated) return;
    saving.run(async () => {
      const isSaved = await meanwhile.save({
        sent: { name: given },
        readNow: async () => {
          const { data } = await refetch({ throwOnError: true });
          return { name: data?.organization?.name ?? '' };
        },
        send: () => update.mutateAsync({ organizationName: given }),
      });
      if (!isSaved) return;
      sayDone({
        title: t('Organization renamed'),
        message: t('The new name is “{{given}}”.', { given }),
        isAsDone: async () => (await rpc.status()).organization?.name === given,
        undo: () => update.mutateAsync({ organizationName: begun.name }),
      });
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel title={t('Name')}>
        <Stack gap="md" maw={560}>
          <NameField
            description={t('The name of this vault, here and for programs.')}
            value={typed}
            problem={problem}
            onType={setTyped}
          />
          <ChangedMeanwhile meanwhile={meanwhile} saved={saved} labels={{ name: t('Name') }} onTake={take} />
          <Failure title={t('Couldn’t rename the organization')} error={saving.error} />
          <div>
            <Button type="submit" loading={saving.isPending} disabled={given === name}>
              {t('Rename')}
            </Button>
          </div>
        </Stack>
      </Panel>
    </form>
  );
}

function RootQuorum({ of: { threshold, userIds } }: { readonly of: Quorum }): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('list_users');
  const nameOf = (id: string): string =>
    data?.users.find(({ userId }) => userId === id)?.userName ?? shorten(id);
  return (
    <Panel title={t('Root quorum')}>
      {isPending ? (
        <LoadingRows label={t('Loading the root quorum')} rows={1} />
      ) : (
        <Text className="kh-row-name">{describeQuorum(threshold, userIds.map(nameOf))}</Text>
      )}
      <Text size="sm" c="dimmed">
        {t('Other users may change only what a policy allows.')}
      </Text>
      <Failure title={t('Couldn’t load the users’ names')} error={error} onRetry={() => void refetch()} />
    </Panel>
  );
}

/** Answers whether a feature has this value now; undefined where it is not set. */
function useIsFeature(): (name: Feature['name'], value: string | undefined) => Promise<boolean> {
  const rpc = useRpc();
  return async (name, value) => {
    const { configs } = await queryApi(rpc, 'get_organization_configs', {});
    return configs.features.find((feature) => feature.name === name)?.value === value;
  };
}

function Features({ present }: { readonly present: readonly Feature[] }): ReactNode {
  const remove = useSubmit('ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE');
  const set = useSubmit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE');
  const isFeature = useIsFeature();
  const choice = useRef<HTMLSelectElement>(null);
  const takeOut = ({ name, value }: Feature) => {
    remove.mutate(
      { name },
      {
        onSuccess() {
          // The button that had the focus is gone.
          choice.current?.focus();
          sayDone({
            title: t('Feature removed'),
            message: t('“{{name}}” is not set.', { name: featureLabel(name) }),
            isAsDone: () => isFeature(name, undefined),
            undo: () => set.mutateAsync({ name, value }),
          });
        },
      },
    );
  };
  return (
    <Panel title={t('Features')} kind="plain">
      {present.length > 0 && (
        <ul className="kh-rows" aria-label={t('Features')}>
          {present.map((feature) => {
            const { name, value } = feature;
            return (
              <li key={name} className="kh-row kh-manage">
                <div>
                  <span className="kh-row-name">{featureLabel(name)}</span>
                  <br />
                  <span className="kh-row-more">
                    {value === '' ? t('On') : <span className="kh-mono">{visibleName(value)}</span>}
                  </span>
                </div>
                <Button
                  variant="default"
                  size="xs"
                  className="kh-danger-button"
                  aria-label={t('Remove {{name}}', { name: featureLabel(name) })}
                  loading={remove.isPending && remove.variables.name === name}
                  disabled={remove.isPending}
                  onClick={() => {
                    takeOut(feature);
                  }}
                >
                  {t('Remove')}
                </Button>
              </li>
            );
          })}
        </ul>
      )}
      <div className="kh-rows-foot" data-first={present.length === 0 || undefined}>
        {present.length === 0 && (
          <Text c="dimmed" size="sm" mb="md">
            {t('No features. Programs read and set features by name.')}
          </Text>
        )}
        <Failure title={t('Couldn’t remove the feature')} error={remove.error} />
        <SetFeature present={present} choice={choice} />
      </div>
    </Panel>
  );
}

interface SetProps {
  readonly present: readonly Feature[];
  readonly choice: React.RefObject<HTMLSelectElement | null>;
}

function SetFeature({ present, choice }: SetProps): ReactNode {
  const [picked, setPicked] = useState<string | null>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  const set = useSubmit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE');
  const remove = useSubmit('ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE');
  const isFeature = useIsFeature();
  // A switch that is on can only be removed.
  const choices = known.filter(
    ({ name, value }) => value !== undefined || !present.some((feature) => feature.name === name),
  );
  const chosen = choices.find(({ name }) => name === picked) ?? choices[0];
  const field = chosen?.value;
  const current = present.find(({ name }) => name === chosen?.name);
  const value = field === undefined ? '' : (typed ?? current?.value ?? '').trim();
  const problem = field !== undefined && value === '' ? t('Enter a value.') : null;
  const choose = (name: string) => {
    setPicked(name);
    setTyped(null);
    setTried(false);
    set.reset();
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || chosen === undefined) return;
    const { name, label } = chosen;
    set.mutate(
      { name, value },
      {
        onSuccess() {
          setTyped(null);
          setTried(false);
          sayDone({
            title: t('Feature set'),
            message: t('“{{chosen}}” is set.', { chosen: label }),
            isAsDone: () => isFeature(name, value),
            undo: () => (current === undefined ? remove.mutateAsync({ name }) : set.mutateAsync(current)),
          });
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md" maw={560}>
        <NativeSelect
          label={t('Feature')}
          description={chosen?.about}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          ref={choice}
          value={chosen?.name}
          data={choices.map(({ name, label }) => ({ value: name, label }))}
          onChange={onText(choose)}
        />
        {field !== undefined && (
          <TextInput
            label={field.label}
            placeholder={field.placeholder}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            maxLength={2000}
            value={typed ?? current?.value ?? ''}
            error={tried ? problem : null}
            onChange={onText(setTyped)}
          />
        )}
        <Failure title={t('Couldn’t set the feature')} error={set.error} />
        <div>
          <Button
            type="submit"
            loading={set.isPending}
            disabled={chosen === undefined || value === current?.value}
          >
            {current === undefined ? t('Set feature') : t('Change feature')}
          </Button>
        </div>
      </Stack>
    </form>
  );
}

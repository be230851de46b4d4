import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Select, Stack, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { Answer } from '../../../main/operations/api.ts';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { onText } from '../../ui/on-text.ts';
import { Panel } from '../../ui/page.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { t } from '../../app/i18n/text.ts';
import { useApiQuery, useSubmit } from '../../app/rpc/vault.tsx';
import { NamedText, useKnownNames } from '../policies/policy-names.tsx';
import { usePolicyChecks } from '../policies/policy-queries.ts';
import '../../ui/rows.css';

type Profile = Answer<'get_session_profiles'>['sessionProfiles'][number];

/** Scopes that have words of their own. */
const scopes: readonly { readonly value: string; readonly label: string }[] = [
  { value: "activity.action == 'SIGN'", label: t('Signatures') },
  { value: "activity.kind == 'SIGN_TRANSACTION'", label: t('Signatures of transactions') },
  { value: 'true', label: t('All but new ways in and the rights of others') },
  { value: 'false', label: t('Nothing: it reads') },
];
const typed = 'typed';

/** By seconds as digits; empty where the profile sets no time. */
const spans: readonly { readonly value: string; readonly label: string }[] = [
  { value: '600', label: t('10 minutes') },
  { value: '3600', label: t('1 hour') },
  { value: '86400', label: t('1 day') },
  { value: '', label: t('As long as the sign-in asks') },
];

/** The profiles that a login may name. None is ever changed or deleted: sessions and policies count on it. */
export function SessionProfiles(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('get_session_profiles', {});
  const profiles = data?.sessionProfiles ?? [];
  const names = useKnownNames();
  return (
    <Panel
      title={t('Session profiles')}
      kind="plain"
      aside={
        <DialogButton name={t('New profile…')} title={t('New session profile')}>
          {(close) => <NewProfile taken={profiles.map((each) => each.sessionProfileName)} close={close} />}
        </DialogButton>
      }
    >
      {isPending && <LoadingRows label={t('Loading session profiles')} />}
      <Failure title={t('Couldn’t load the session profiles')} error={error} onRetry={() => void refetch()} />
      {data?.sessionProfiles.length === 0 && (
        <Empty title={t('No session profiles yet')} level={3}>
          <p>{t('A sign-in that names a profile may do only what its scope allows.')}</p>
        </Empty>
      )}
      {profiles.length > 0 && (
        <ul className="kh-rows" aria-label={t('Session profiles')}>
          {profiles.map((profile) => (
            <li key={profile.sessionProfileId} className="kh-row kh-manage">
              <div>
                <span className="kh-row-name">{visibleName(profile.sessionProfileName)}</span>
                <br />
                {scopes.find(({ value }) => value === profile.scope)?.label ?? (
                  <NamedText text={profile.scope} names={names} />
                )}
                <br />
                <span className="kh-row-more">{endOf(profile)}</span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function endOf({ expirationSeconds }: Profile): string {
  if (expirationSeconds === undefined) return t('Ends when the sign-in says.');
  const known = spans.find(({ value }) => value === expirationSeconds)?.label;
  return known === undefined
    ? t('Ends after {{seconds}} seconds at most.', { seconds: expirationSeconds })
    : t('Ends after {{span}} at most.', { span: known });
}

function NewProfile({
  taken,
  close,
}: {
  readonly taken: readonly string[];
  readonly close: () => void;
}): ReactNode {
  const create = useSubmit('ACTIVITY_TYPE_CREATE_SESSION_PROFILE');
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(scopes[0]?.value ?? typed);
  const [text, setText] = useState('');
  const [span, setSpan] = useState('3600');
  const [tried, setTried] = useState(false);
  const scope = chosen === typed ? text.trim() : chosen;
  const checks = usePolicyChecks(scope === '' ? undefined : [{ effect: 'EFFECT_ALLOW', condition: scope }]);
  const problem = create.isPending || create.isSuccess ? null : nameProblem(name, taken);
  const scopeProblem =
    scope === '' ? (tried ? t('Enter an expression.') : null) : checks.data?.[0]?.problems[0]?.message;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || scope === '') return;
    create.mutate(
      {
        sessionProfileName: name.trim(),
        scope,
        ...(span !== '' && { expirationSeconds: span }),
      },
      {
        onSuccess() {
          notifications.show({
            title: t('Session profile created'),
            message: t('A sign-in may name “{{name}}” now.', { name: name.trim() }),
          });
          close();
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <NameField value={name} problem={tried ? problem : null} others={taken} onType={setName} first />
        <Select
          label={t('May do')}
          description={t('As far as policies allow it. No session with a profile adds a way in.')}
          data={[...scopes, { value: typed, label: t('What an expression says') }]}
          value={chosen}
          allowDeselect={false}
          onChange={(value) => {
            setChosen(value ?? chosen);
          }}
        />
        {chosen === typed && (
          <Textarea
            label={t('Scope')}
            description={t('A condition of the policy language, asked of each activity.')}
            autosize
            minRows={2}
            spellCheck={false}
            className="kh-mono-input kh-in-order"
            value={text}
            error={scopeProblem}
            onChange={onText(setText)}
          />
        )}
        <Select
          label={t('Ends after')}
          data={[...spans]}
          value={span}
          allowDeselect={false}
          maw={240}
          onChange={(value) => {
            setSpan(value ?? span);
          }}
        />
        <Text size="sm" c="dimmed">
          {t('A profile can’t be changed or deleted later.')}
        </Text>
        <FormEnd
          failed={t('Couldn’t create the session profile')}
          error={create.error}
          busy={create.isPending}
          does={t('Create profile')}
          back={close}
        />
      </Stack>
    </form>
  );
}

import { useReducer, useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { ApiKeys } from '../connect/api-keys.tsx';
import { ContactFields } from './contact-fields.tsx';
import type { Contact } from './contact-fields.tsx';
import { bareNumber, emailProblem, phoneProblem } from './contact.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { MadeApiKey } from '../connect/made-api-key.tsx';
import { DeleteForm, DangerZone, DangerAction } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { NewApiKey } from '../connect/new-api-key.tsx';
import type { NamedPair } from '../connect/new-api-key.tsx';
import { OauthProviders } from './oauth-providers.tsx';
import { ObjectTabs } from '../activity/object-tabs.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { Passkeys } from './passkeys.tsx';
import type { User as UserRecord } from '../../app/rpc/resources.ts';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { Sessions } from './session-list.tsx';
import { TagEditor } from '../tags/tag-editor.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { areSame, ChangedMeanwhile, useMeanwhile } from '../../app/meanwhile.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { queryApi, useApiQuery, useRpc, useStatus, useSubmit } from '../../app/rpc/vault.tsx';

interface Props {
  readonly userId: string;
}

/** One user: how to reach them, what they are tagged with, what they sign requests with. */
export function User({ userId }: Props): ReactNode {
  const { owner } = useStatus();
  const { data, error, isPending, refetch } = useApiQuery('get_user', { userId });
  const [round, restart] = useReducer((rounds: number) => rounds + 1, 0);
  const readNow = async (): Promise<UserRecord> => {
    const { data: now } = await refetch({ throwOnError: true });
    if (now === undefined) throw new Error(t('Couldn’t load the user'));
    return now.user;
  };
  const user = data?.user;
  return (
    <>
      <PageHead
        title={user?.userName ?? t('User')}
        back={{ to: '/users', label: t('Users') }}
        lead={
          user !== undefined && (
            <>
              <Trans
                i18nKey="<shortId/> · created <moment/>"
                components={{
                  shortId: <ShortId text={user.userId} copy={t('Copy user ID')} />,
                  moment: <RelativeTime at={user.createdAt} />,
                }}
              />{' '}
              {user.userId === owner?.userId && <span className="kh-badge">{t('You')}</span>}
            </>
          )
        }
      />
      <ObjectTabs of={`/users/${userId}`} />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the user')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the user')} error={error} onRetry={() => void refetch()} />
      {user !== undefined && (
        <>
          <Details of={user} readNow={readNow} onTake={restart} key={round} />
          <ApiKeys
            title={t('API keys')}
            user={user}
            instead={null}
            aside={
              <Button
                component={Link}
                href={`/users/${userId}/new-api-key`}
                variant="default"
                size="xs"
                leftSection={<IconPlus size={16} aria-hidden />}
              >
                {t('Add API key')}
              </Button>
            }
          />
          <Passkeys user={user} />
          <OauthProviders user={user} />
          <Sessions title={t('Sessions')} userId={userId} />
          <TagEditor kind="user" holderId={userId} tagIds={user.userTags} />
          <ManageUser of={user} />
        </>
      )}
    </>
  );
}

interface Reach {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
}

const reachOf = ({ userName, userEmail = '', userPhoneNumber = '' }: UserRecord): Reach => ({
  name: userName,
  email: userEmail,
  phone: userPhoneNumber,
});

const labels: Readonly<Record<keyof Reach, string>> = {
  name: t('Name'),
  email: t('Email'),
  phone: t('Phone'),
};

interface DetailsProps {
  readonly of: UserRecord;
  /** Asks the vault, and shows what it answers. */
  readonly readNow: () => Promise<UserRecord>;
  readonly onTake: () => void;
}

/** The name and how to reach the user, as fields that can be changed. */
function Details({ of, readNow, onTake }: DetailsProps): ReactNode {
  const saved = reachOf(of);
  const others = useApiQuery('list_users');
  const [name, setName] = useState(saved.name);
  const [contact, setContact] = useState<Contact>(saved);
  const [tried, setTried] = useState(false);
  const rpc = useRpc();
  const update = useSubmit('ACTIVITY_TYPE_UPDATE_USER');
  const saving = useAsyncAction();
  const taken =
    others.data?.users.filter(({ userId }) => userId !== of.userId).map(({ userName }) => userName) ?? [];
  const problem = nameProblem(name, taken);
  const given = { name: name.trim(), email: contact.email.trim(), phone: bareNumber(contact.phone) };
  const meanwhile = useMeanwhile({ saved, typed: given, isSaving: saving.isPending, onTake });
  const { begun } = meanwhile;
  /** The fields that the form changes, with the values of one side of the change. */
  const changeTo = (values: Reach) => ({
    ...(given.name === begun.name ? {} : { userName: values.name }),
    ...(given.email === begun.email ? {} : { userEmail: values.email }),
    ...(given.phone === begun.phone ? {} : { userPhoneNumber: values.phone }),
  });
  const change = changeTo(given);
  const former = changeTo(begun);
  const changed = Object.keys(change).length > 0;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || emailProblem(contact.email) !== null || phoneProblem(contact.phone) !== null)
      return;
    if (meanwhile.isOutdated) return;
    saving.run(async () => {
      const isSaved = await meanwhile.save({
        sent: given,
        readNow: async () => reachOf(await readNow()),
        send: () => update.mutateAsync({ userId: of.userId, ...change }),
      });
      if (!isSaved) return;
      sayDone({
        title: t('Saved'),
        message:
          'userEmail' in change || 'userPhoneNumber' in change
            ? t('“{{name}}” updated. A changed address or number must be verified again, even after Undo.', {
                name: given.name,
              })
            : t('“{{name}}” updated.', { name: given.name }),
        isAsDone: async () => {
          const { user } = await queryApi(rpc, 'get_user', { userId: of.userId });
          const { userName, userEmail = '', userPhoneNumber = '' } = user;
          const now = { userName, userEmail, userPhoneNumber };
          return areSame({ ...now, ...change }, now);
        },
        undo: () => update.mutateAsync({ userId: of.userId, ...former }),
      });
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel>
        <Stack gap="md" maw={560}>
          <NameField
            description={t('A unique name for a person or program.')}
            value={name}
            problem={problem}
            others={taken}
            onType={setName}
          />
          <ContactFields value={contact} tried={tried} onType={setContact} />
          <ChangedMeanwhile meanwhile={meanwhile} saved={saved} labels={labels} onTake={onTake} />
          <Failure title={t('Couldn’t update the user')} error={saving.error} />
          <Group gap="sm">
            <Button type="submit" loading={saving.isPending} disabled={!changed}>
              {t('Save changes')}
            </Button>
          </Group>
        </Stack>
      </Panel>
    </form>
  );
}

function ManageUser({ of }: { readonly of: UserRecord }): ReactNode {
  const { owner } = useStatus();
  const [, navigate] = useLocation();
  const { userId, userName, apiKeys, authenticators } = of;
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_USERS');
  return (
    <DangerZone>
      <DangerAction
        name={t('Delete')}
        about={t('Remove the user and all its keys.')}
        title={t('Delete “{{userName}}”', { userName })}
        danger
        refused={userId === owner?.userId ? t('The owner of the vault can’t be deleted.') : undefined}
      >
        {(close) => (
          <DeleteForm
            what="user"
            outcomes={[
              ...(apiKeys.length === 0 && authenticators.length === 0
                ? [t('The user has no API key or passkey.')]
                : [t('The user’s requests are refused.')]),
              ...(apiKeys.length === 0
                ? []
                : [t('{{count}} API keys are deleted too.', { count: apiKeys.length })]),
              ...(authenticators.length === 0
                ? []
                : [t('{{count}} passkeys are deleted too.', { count: authenticators.length })]),
              t('Wallets and private keys stay.'),
              t('Log entries stay.'),
            ]}
            confirm={{ text: userName, as: 'userName' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { userIds: [userId] },
                {
                  onSuccess() {
                    navigate('/users', { replace: true });
                    notifications.show({
                      title: t('User deleted'),
                      message: t('“{{userName}}”', { userName }),
                    });
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

/** A new API key of a user. */
export function UserApiKey({ userId }: Props): ReactNode {
  const [, navigate] = useLocation();
  const [made, setMade] = useState<NamedPair | null>(null);
  const { data, error, isPending, refetch } = useApiQuery('get_user', { userId });
  const user = data?.user;
  const page = `/users/${userId}`;
  const back = () => {
    navigate(page, { replace: true });
  };
  return (
    <>
      <PageHead
        title={t('Add API key')}
        back={{ to: page, label: user?.userName ?? t('User') }}
        lead={t('A script uses this key to sign requests as this user.')}
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the user')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the user')} error={error} onRetry={() => void refetch()} />
      {user !== undefined && made === null && (
        <NewApiKey
          title={t('API key')}
          userId={userId}
          userName={user.userName}
          taken={user.apiKeys.map(({ apiKeyName }) => apiKeyName)}
          onMade={setMade}
          onRegistered={(name) => {
            notifications.show({
              title: t('API key registered'),
              message: t('“{{name}}” signs for {{userName}}.', { name, userName: user.userName }),
            });
            back();
          }}
          cancel={
            <Button variant="subtle" color="gray" component={Link} href={page}>
              {t('Cancel')}
            </Button>
          }
        />
      )}
      {made !== null && <MadeApiKey pair={made} onDone={back} />}
    </>
  );
}

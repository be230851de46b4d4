import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { ApiKeys } from '../parts/api-keys.tsx';
import { count } from '../parts/bytes.ts';
import { ContactFields } from '../parts/contact-fields.tsx';
import type { Contact } from '../parts/contact-fields.tsx';
import { bareNumber, emailProblem, phoneProblem } from '../parts/contact.ts';
import { ShortId } from '../parts/identifier.tsx';
import { MadeApiKey } from '../parts/made-api-key.tsx';
import { DeleteForm, Manage, ManageAction } from '../parts/manage.tsx';
import { Moment } from '../parts/moment.tsx';
import { NameField } from '../parts/name-field.tsx';
import { nameProblem } from '../parts/names.ts';
import { NewApiKey } from '../parts/new-api-key.tsx';
import type { NamedPair } from '../parts/new-api-key.tsx';
import { OauthProviders } from '../parts/oauth-providers.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import { Passkeys } from '../parts/passkeys.tsx';
import type { User as UserRecord } from '../parts/resources.ts';
import { Failure, LoadingRows } from '../parts/states.tsx';
import { Sessions } from '../parts/sessions.tsx';
import { TagEditor } from '../parts/tag-editor.tsx';
import { useAsk, useStatus, useSubmit } from '../parts/vault.tsx';

interface Props {
  readonly userId: string;
}

/** One user: how to reach them, what they are tagged with, what they sign requests with. */
export function User({ userId }: Props): ReactNode {
  const { owner } = useStatus();
  const { data, error, isPending, refetch } = useAsk<{ user: UserRecord }>('get_user', { userId });
  const user = data?.user;
  return (
    <>
      <PageHead
        title={user?.userName ?? 'User'}
        back={{ to: '/users', label: 'Users' }}
        lead={
          user !== undefined && (
            <>
              <ShortId text={user.userId} what="user id" /> · made <Moment at={user.createdAt} />{' '}
              {user.userId === owner?.userId && <span className="lk-badge">You</span>}
            </>
          )
        }
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows what="the user" />
        </Panel>
      )}
      <Failure title="The user could not be read" error={error} onRetry={() => void refetch()} />
      {user !== undefined && (
        <>
          <Details of={user} key={`${user.updatedAt.seconds}.${user.updatedAt.nanos}`} />
          <ApiKeys
            title="API keys"
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
                Add an API key
              </Button>
            }
          />
          <Passkeys user={user} />
          <OauthProviders user={user} />
          <Sessions title="Sessions" userId={userId} />
          <TagEditor kind="user" holderId={userId} tagIds={user.userTags} />
          <ManageUser of={user} />
        </>
      )}
    </>
  );
}

const updateUser = {
  operation: 'update_user',
  type: 'ACTIVITY_TYPE_UPDATE_USER',
  result: 'updateUserResult',
} as const;

/** The name and how to reach the user, as fields that can be changed. */
function Details({ of }: { readonly of: UserRecord }): ReactNode {
  const present = { email: of.userEmail ?? '', phone: of.userPhoneNumber ?? '' };
  const others = useAsk<{ users: readonly UserRecord[] }>('list_users');
  const [name, setName] = useState(of.userName);
  const [contact, setContact] = useState<Contact>(present);
  const [tried, setTried] = useState(false);
  const update = useSubmit<
    { userId: string; userName?: string; userEmail?: string; userPhoneNumber?: string },
    unknown
  >(updateUser);
  const problem = nameProblem(
    name,
    'user',
    others.data?.users.filter(({ userId }) => userId !== of.userId).map(({ userName }) => userName),
  );
  const given = { name: name.trim(), email: contact.email.trim(), phone: bareNumber(contact.phone) };
  const change = {
    ...(given.name === of.userName ? {} : { userName: given.name }),
    ...(given.email === present.email ? {} : { userEmail: given.email }),
    ...(given.phone === present.phone ? {} : { userPhoneNumber: given.phone }),
  };
  const changed = Object.keys(change).length > 0;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || emailProblem(contact.email) !== null || phoneProblem(contact.phone) !== null)
      return;
    update.mutate(
      { userId: of.userId, ...change },
      {
        onSuccess() {
          notifications.show({ title: 'Saved', message: `“${given.name}” is changed.` });
        },
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Panel>
        <Stack gap="md" maw={560}>
          <NameField
            description="A person or a program; names are unique in the vault."
            value={name}
            problem={problem}
            onType={setName}
          />
          <ContactFields value={contact} tried={tried} onType={setContact} />
          <Failure title="The user was not changed" error={update.error} />
          <Group gap="sm">
            <Button type="submit" loading={update.isPending} disabled={!changed}>
              Save changes
            </Button>
          </Group>
        </Stack>
      </Panel>
    </form>
  );
}

const deleteUsers = {
  operation: 'delete_users',
  type: 'ACTIVITY_TYPE_DELETE_USERS',
  result: 'deleteUsersResult',
} as const;

function ManageUser({ of }: { readonly of: UserRecord }): ReactNode {
  const { owner } = useStatus();
  const [, navigate] = useLocation();
  const { userId, userName, apiKeys, authenticators } = of;
  const remove = useSubmit<{ userIds: readonly string[] }, unknown>(deleteUsers);
  const keyCount = apiKeys.length + authenticators.length;
  const signers = [
    ...(apiKeys.length === 0 ? [] : [count(apiKeys.length, 'API key')]),
    ...(authenticators.length === 0 ? [] : [count(authenticators.length, 'passkey')]),
  ];
  return (
    <Manage>
      <ManageAction
        name="Delete"
        about="Takes the user and all that it signs requests with out of this vault."
        title={`Delete “${userName}”`}
        danger
        refused={
          userId === owner?.userId
            ? 'You are the owner of this vault: without you nobody could open it, so you are not deleted.'
            : undefined
        }
      >
        {(close) => (
          <DeleteForm
            what="user"
            outcomes={[
              signers.length === 0
                ? 'It has neither an API key nor a passkey.'
                : `Requests in its name are refused from then on: ${signers.join(' and ')} ${keyCount === 1 ? 'is' : 'are'} deleted with it.`,
              'Wallets and private keys stay: they belong to the vault and not to a user.',
              'Entries in the log still say what the user did.',
            ]}
            confirm={{ text: userName, what: 'the name' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { userIds: [userId] },
                {
                  onSuccess() {
                    navigate('/users', { replace: true });
                    notifications.show({ title: 'The user is deleted', message: `“${userName}” is gone.` });
                  },
                },
              );
            }}
          />
        )}
      </ManageAction>
    </Manage>
  );
}

/** A new API key of a user. */
export function UserApiKey({ userId }: Props): ReactNode {
  const [, navigate] = useLocation();
  const [made, setMade] = useState<NamedPair | null>(null);
  const { data, error, isPending, refetch } = useAsk<{ user: UserRecord }>('get_user', { userId });
  const user = data?.user;
  const page = `/users/${userId}`;
  const back = () => {
    navigate(page, { replace: true });
  };
  return (
    <>
      <PageHead
        title="New API key"
        back={{ to: page, label: user?.userName ?? 'User' }}
        lead="A script signs its requests with it, as this user."
      />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows what="the user" />
        </Panel>
      )}
      <Failure title="The user could not be read" error={error} onRetry={() => void refetch()} />
      {user !== undefined && made === null && (
        <NewApiKey
          title="A key to sign requests with"
          userId={userId}
          userName={user.userName}
          taken={user.apiKeys.map(({ apiKeyName }) => apiKeyName)}
          onMade={setMade}
          onRegistered={(name) => {
            notifications.show({
              title: 'The API key is registered',
              message: `“${name}” signs for ${user.userName}.`,
            });
            back();
          }}
          cancel={
            <Button variant="subtle" color="gray" component={Link} href={page}>
              Cancel
            </Button>
          }
        />
      )}
      {made !== null && <MadeApiKey pair={made} onDone={back} />}
    </>
  );
}

import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Checkbox, Fieldset, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconPlus } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ContactFields } from './contact-fields.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import type { Contact } from './contact-fields.tsx';
import { bareNumber, emailProblem, phoneProblem } from './contact.ts';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { useTags } from '../tags/tag-queries.ts';
import { useDraftState } from '../../app/drafts.ts';
import { t } from '../../app/i18n/text.ts';
import { UserList } from './user-list.tsx';
import { useApiQuery, useStatus, useSubmit } from '../../app/rpc/vault.tsx';

export function Users(): ReactNode {
  const { owner } = useStatus();
  const { data, error, isPending, refetch } = useApiQuery('list_users');
  return (
    <>
      <PageHead
        title={t('Users')}
        lead={t('People and programs that send requests to the vault.')}
        action={
          <Button component={Link} href="/users/new" leftSection={<IconPlus size={16} aria-hidden />}>
            {t('Create user')}
          </Button>
        }
      />
      {data === undefined ? (
        <Panel kind="plain">
          {isPending && <LoadingRows label={t('Loading users')} />}
          <Failure title={t('Couldn’t load the users')} error={error} onRetry={() => void refetch()} />
        </Panel>
      ) : (
        <>
          <Failure title={t('Couldn’t load the users')} error={error} onRetry={() => void refetch()} />
          <UserList users={data.users} ownId={owner?.userId} />
        </>
      )}
      {data?.users.length === 1 && (
        <p className="kh-lead">
          {t('Only you so far. Create users for other people, or for programs with fewer permissions.')}
        </p>
      )}
    </>
  );
}

export function NewUser(): ReactNode {
  const [, navigate] = useLocation();
  const existing = useApiQuery('list_users');
  const tags = useTags('user');
  const [name, setName] = useDraftState('name', '');
  const [contact, setContact] = useDraftState<Contact>('contact', { email: '', phone: '' });
  const [chosen, setChosen] = useDraftState<readonly string[]>('chosen', []);
  const [tried, setTried] = useState(false);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_USERS_V4');
  const taken = existing.data?.users.map(({ userName }) => userName) ?? [];
  // Once the user is created the name is taken, while this form is still on the screen.
  const problem = create.isSuccess ? null : nameProblem(name, taken);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null || emailProblem(contact.email) !== null || phoneProblem(contact.phone) !== null)
      return;
    create.mutate(
      {
        users: [
          {
            userName: name.trim(),
            userEmail: contact.email.trim(),
            userPhoneNumber: bareNumber(contact.phone),
            apiKeys: [],
            authenticators: [],
            oauthProviders: [],
            userTags: chosen,
          },
        ],
      },
      {
        onSuccess({ result }) {
          notifications.show({
            title: t('Created “{{name}}”', { name: name.trim() }),
            message: t('Add an API key next, so the user can send requests.'),
          });
          const [made] = result.userIds;
          navigate(made === undefined ? '/users' : `/users/${made}`, { replace: true });
        },
      },
    );
  };

  return (
    <>
      <PageHead title={t('Create user')} back={{ to: '/users', label: t('Users') }} />
      <OutcomeForm
        onSubmit={submit}
        outcomes={[
          t('Add an API key or passkey on the user’s page.'),
          t('The user can read the vault. Signing and changes need a policy.'),
          t('The user isn’t notified.'),
        ]}
      >
        <NameField
          description={t('A unique name for a person or program.')}
          value={name}
          problem={tried ? problem : null}
          others={taken}
          onType={setName}
        />
        <ContactFields value={contact} tried={tried} onType={setContact} />
        {tags.list.length > 0 && (
          <Fieldset legend={t('Tags (optional)')} variant="unstyled">
            <Checkbox.Group value={[...chosen]} onChange={setChosen} aria-label={t('Tags')}>
              <Stack gap="xs">
                {tags.list.map(({ tagId, tagName }) => (
                  <Checkbox key={tagId} value={tagId} label={visibleName(tagName)} />
                ))}
              </Stack>
            </Checkbox.Group>
          </Fieldset>
        )}
        <FormEnd
          failed={t('Couldn’t create the user')}
          error={create.error}
          busy={create.isPending}
          does={t('Create user')}
          back="/users"
        />
      </OutcomeForm>
    </>
  );
}

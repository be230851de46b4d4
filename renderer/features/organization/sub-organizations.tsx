import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Checkbox, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconBuildingCommunity, IconPlus } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { ContactFields } from '../users/contact-fields.tsx';
import type { Contact } from '../users/contact-fields.tsx';
import { bareNumber, emailProblem, phoneProblem } from '../users/contact.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { nameProblem } from '../../ui/text/names.ts';
import { PageHead, Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { isOurs, searches, useSubOrganization, useSubOrganizationIds } from './sub-organization-queries.ts';
import type { Search } from './sub-organization-queries.ts';
import { readable } from '../../ui/text/readable.ts';
import { t } from '../../app/i18n/text.ts';
import { useStatus, useSubmit } from '../../app/rpc/vault.tsx';
import { onText } from '../../ui/on-text.ts';
import '../../ui/rows.css';

export function SubOrganizations(): ReactNode {
  const [search, setSearch] = useState<Search>({ by: 'NAME', text: '' });
  const list = useSubOrganizationIds(search);
  const ids = list.data?.pages.flatMap(({ organizationIds }) => organizationIds) ?? [];
  const make = (
    <Button component={Link} href="/sub-organizations/new" leftSection={<IconPlus size={16} aria-hidden />}>
      {t('New sub-organization')}
    </Button>
  );
  const none = list.isSuccess && ids.length === 0;
  return (
    <>
      <PageHead
        title={t('Sub-organizations')}
        lead={t('Separate organizations, such as one per customer. You see inside; only their users act.')}
        action={none && search.text === '' ? undefined : make}
      />
      {!(none && search.text === '') && <Find of={search} onFind={setSearch} />}
      <Panel kind="plain">
        {list.isPending && <LoadingRows label={t('Loading the sub-organizations')} />}
        <Failure
          title={t('Couldn’t load the sub-organizations')}
          error={list.error}
          onRetry={() => void list.refetch()}
        />
        {none &&
          (search.text === '' ? (
            <Empty title={t('No sub-organizations')} action={make} icon={IconBuildingCommunity}>
              <p>
                {t('An app can create one for each customer. Sub-organizations cannot reach each other.')}
              </p>
              <p>{t('You need none for keys of your own.')}</p>
            </Empty>
          ) : (
            <Empty title={t('No results')}>
              <p>{t('Enter the exact, complete value.')}</p>
            </Empty>
          ))}
        {ids.length > 0 && (
          <ul className="kh-rows" aria-label={t('Sub-organizations')}>
            {ids.map((organizationId) => (
              <li key={organizationId}>
                <Row organizationId={organizationId} />
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {list.hasNextPage && (
        <Group>
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {t('Show more')}
          </Button>
        </Group>
      )}
    </>
  );
}

function Find({ of, onFind }: { readonly of: Search; readonly onFind: (search: Search) => void }): ReactNode {
  const [by, setBy] = useState(of.by);
  const [text, setText] = useState(of.text);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    onFind({ by, text: text.trim() });
  };
  return (
    <form onSubmit={submit} noValidate role="search">
      <Panel>
        <Group gap="sm" align="end">
          <NativeSelect
            label={t('Find by')}
            data={searches.map((each) => ({ ...each }))}
            value={by}
            onChange={(event) => {
              setBy(searches.find(({ value }) => value === event.currentTarget.value)?.value ?? by);
            }}
          />
          <TextInput
            label={t('Exact value')}
            flex={1}
            miw={220}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={text}
            onChange={onText(setText)}
          />
          <Button type="submit" variant="default">
            {t('Find')}
          </Button>
          {of.text !== '' && (
            <Button
              variant="subtle"
              color="gray"
              onClick={() => {
                setText('');
                onFind({ by, text: '' });
              }}
            >
              {t('Show all')}
            </Button>
          )}
        </Group>
      </Panel>
    </form>
  );
}

function Row({ organizationId }: { readonly organizationId: string }): ReactNode {
  const { data, error } = useSubOrganization(organizationId);
  const { windowKey } = useStatus();
  const organization = data?.organizationData;
  return (
    <Link href={`/sub-organizations/${organizationId}`} className="kh-row">
      <span>
        <span className="kh-row-name">{visibleName(organization?.name ?? t('Sub-organization'))}</span>{' '}
        {organization !== undefined && isOurs(organization, windowKey) && (
          <span className="kh-badge">{t('You may act here')}</span>
        )}
        <br />
        <span className="kh-row-more">
          {organization === undefined
            ? error === null
              ? t('Loading')
              : readable(error)
            : [
                t('{{count}} users', { count: organization.users.length }),
                t('{{count}} wallets', { count: organization.wallets.length }),
                ...(organization.privateKeys.length === 0
                  ? []
                  : [t('{{count}} private keys', { count: organization.privateKeys.length })]),
              ].join(' · ')}
        </span>
      </span>
    </Link>
  );
}

interface NewKey {
  readonly apiKeyName: string;
  readonly publicKey: string;
  readonly curveType: 'API_KEY_CURVE_P256';
}

const p256 = (apiKeyName: string, publicKey: string): NewKey => ({
  apiKeyName,
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
});

export function NewSubOrganization(): ReactNode {
  const [, navigate] = useLocation();
  const { windowKey } = useStatus();
  const [name, setName] = useState('');
  const [userName, setUserName] = useState('');
  const [contact, setContact] = useState<Contact>({ email: '', phone: '' });
  const [publicKey, setPublicKey] = useState('');
  const [ours, setOurs] = useState(true);
  const [tried, setTried] = useState(false);
  const create = useSubmit('ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8');
  const problem = nameProblem(name);
  const userProblem = nameProblem(userName);
  const given = publicKey.trim().replace(/^0x/i, '');
  const keyProblem =
    given === '' || /^0[23][0-9a-f]{64}$/i.test(given)
      ? null
      : t('A compressed P-256 public key has 66 hex digits and starts with 02 or 03.');
  const noWayIn = !ours && given === '' && contact.email.trim() === '' && contact.phone.trim() === '';

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    const refused = [
      problem,
      userProblem,
      keyProblem,
      emailProblem(contact.email),
      phoneProblem(contact.phone),
    ];
    if (noWayIn || refused.some((each) => each !== null)) return;
    create.mutate(
      {
        subOrganizationName: name.trim(),
        rootUsers: [
          {
            userName: userName.trim(),
            userEmail: contact.email.trim(),
            userPhoneNumber: bareNumber(contact.phone),
            apiKeys: [
              ...(given === '' ? [] : [p256(t('First key'), given)]),
              ...(ours && windowKey !== null ? [p256(t('Keyhearth window'), windowKey)] : []),
            ],
            authenticators: [],
            oauthProviders: [],
          },
        ],
        rootQuorumThreshold: 1,
      },
      {
        onSuccess({ result }) {
          notifications.show({
            title: t('“{{name}}” is created', { name: name.trim() }),
            message: t('Programs use the ID on its page.'),
          });
          navigate(`/sub-organizations/${result.subOrganizationId}`, { replace: true });
        },
      },
    );
  };

  return (
    <>
      <PageHead
        title={t('New sub-organization')}
        back={{ to: '/sub-organizations', label: t('Sub-organizations') }}
      />
      <OutcomeForm
        onSubmit={submit}
        outcomes={[
          t('It has its own users, wallets, keys and policies.'),
          ours
            ? t('This window gets a key of its first user.')
            : t('Only its own user can ever change or delete it.'),
          t('Its user may sign in by email and SMS, where set up.'),
          t('The log records it. No user is notified.'),
        ]}
      >
        <NameField
          description={t('Such as a customer or a project.')}
          value={name}
          problem={tried ? problem : null}
          onType={setName}
          first
        />
        <TextInput
          label={t('First user')}
          description={t('The only member of the root quorum, with full access.')}
          required
          maxLength={64}
          autoComplete="off"
          value={userName}
          error={tried && userProblem}
          onChange={onText(setUserName)}
        />
        <ContactFields value={contact} tried={tried} onType={setContact} />
        <TextInput
          label={t('API key of the user (optional)')}
          description={t('P-256 public key, 66 hex digits.')}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          className="kh-mono-input"
          value={publicKey}
          error={tried && keyProblem}
          onChange={onText(setPublicKey)}
        />
        <Checkbox
          label={t('This window may sign for the user too')}
          description={t('Otherwise you only see its contents, and cannot delete it.')}
          checked={ours}
          onChange={(event) => {
            setOurs(event.currentTarget.checked);
          }}
        />
        {tried && noWayIn && (
          <Text size="sm" c="red" role="alert">
            {t('Enter an API key, email address or phone number, or let this window sign.')}
          </Text>
        )}
        <FormEnd
          failed={t('Couldn’t create the sub-organization')}
          error={create.error}
          busy={create.isPending}
          does={t('Create sub-organization')}
          back="/sub-organizations"
        />
      </OutcomeForm>
    </>
  );
}

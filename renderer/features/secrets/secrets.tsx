import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconForms, IconPlus } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { hasText, SearchedList } from '../../ui/lists/searched-list.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { OutcomeForm } from '../../ui/outcome-form.tsx';
import { RowTime } from '../../ui/lists/row-time.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { leadTo } from '../../app/lead-to.ts';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import type { SecretRecord } from '../../app/rpc/resources.ts';
import { useSubmit } from '../../app/rpc/vault.tsx';
import { createdAt, nameOf, propertyTexts, useSecrets, useSendValue } from './secret-queries.ts';
import { PropertiesField, propertiesProblem, readProperties } from './properties-field.tsx';
import { ValueField, valueProblem } from './value-field.tsx';
import '../../ui/rows.css';

export function Secrets(): ReactNode {
  const { data, error, isPending, refetch } = useSecrets();
  const add = (
    <Button component={Link} href="/secrets/new" leftSection={<IconPlus size={16} aria-hidden />}>
      {t('Add secret')}
    </Button>
  );
  return (
    <>
      <PageHead
        title={t('Secrets')}
        lead={t('Passwords and tokens that programs need.')}
        action={data !== undefined && data.length > 0 ? add : undefined}
      />
      {data !== undefined && data.length > 0 ? (
        <SecretList secrets={data} />
      ) : (
        <Panel kind="plain">
          {isPending && <LoadingRows label={t('Loading secrets')} />}
          <Failure title={t('Couldn’t load the secrets')} error={error} onRetry={() => void refetch()} />
          {data?.length === 0 && (
            <Empty title={t('No secrets yet')} action={add} icon={IconForms}>
              <p>
                {t(
                  'Keep a password or token here. Then “keyhearth run” gives it to a program without a file.',
                )}
              </p>
            </Empty>
          )}
        </Panel>
      )}
    </>
  );
}

const isFound = (secret: SecretRecord, text: string): boolean =>
  hasText([nameOf(secret), secret.secretId, ...propertyTexts(secret)], text);

const SecretList = ({ secrets }: { readonly secrets: readonly SecretRecord[] }): ReactNode => (
  <SearchedList
    items={secrets}
    idOf={({ secretId }) => secretId}
    label={t('Secrets')}
    placeholder={t('Name, property or ID')}
    isFound={isFound}
    counted={(count) => t('{{count}} secrets', { count })}
    nothingFound={{
      title: t('No matching secret'),
      text: t('No secret has this in its name, properties or ID.'),
    }}
    height={{ wide: 4.75, narrow: 7 }}
    row={(secret) => <Row of={secret} />}
  />
);

const Row = ({ of }: { readonly of: SecretRecord }): ReactNode => (
  <a href={`#/secrets/${of.secretId}`} className="kh-row">
    <span>
      <span className="kh-clamp">
        <span className="kh-row-name">{visibleName(nameOf(of))}</span>
      </span>
      <span className="kh-clamp kh-row-more">{propertyTexts(of).map(visibleName).join(' · ')}</span>
    </span>
    <span className="kh-row-side">
      <RowTime at={createdAt(of)} say={(when) => t('Created {{when}}', { when })} />
    </span>
  </a>
);

export function NewSecret(): ReactNode {
  const [, navigate] = useLocation();
  const { data: existing = [] } = useSecrets();
  const taken = existing.flatMap(({ name }) => name ?? []);
  const [typedName, setTypedName] = useState<string | null>(null);
  const [value, setValue] = useState('');
  const [properties, setProperties] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const [done, setDone] = useState(false);
  const send = useSendValue();
  const store = useSubmit('ACTIVITY_TYPE_IMPORT_SECRETS');
  const task = useAsyncAction();
  const name = typedName ?? freeName('Secret', taken);
  // Once the secret is there its own name is taken, while this form is still on the screen.
  const problem = done || task.isPending ? null : nameProblem(name, taken);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const bad = valueProblem(value);
    setWrong(bad);
    if (problem !== null || bad !== null || propertiesProblem(properties) !== null) return;
    // The name stays where the answer is lost: with the next free one, the next press would do this twice.
    setTypedName(name);
    task.run(() =>
      leadTo(navigate, async () => {
        const { result } = await send(value, (sealed) =>
          store.mutateAsync({
            secrets: [{ name: name.trim(), staticProperties: [...readProperties(properties)], ...sealed }],
          }),
        );
        setDone(true);
        setValue('');
        notifications.show({
          title: t('Added “{{name}}”', { name: name.trim() }),
          message: t('The secret is sealed in the vault.'),
        });
        return `/secrets/${result.secretIds[0] ?? ''}`;
      }),
    );
  };

  return (
    <>
      <PageHead title={t('Add secret')} back={{ to: '/secrets', label: t('Secrets') }} />
      <OutcomeForm
        onSubmit={submit}
        secret
        outcomes={[
          t('Encrypted before it leaves this window, and sealed in the vault.'),
          t('Programs get it only where a policy allows, each time as an entry of the log.'),
          t('Its name and properties stay. You can replace the value later.'),
        ]}
      >
        <NameField value={name} problem={problem} others={taken} onType={setTypedName} />
        <ValueField
          value={value}
          problem={wrong}
          onType={(typed) => {
            setValue(typed);
            setWrong(null);
          }}
        />
        <PropertiesField value={properties} onType={setProperties} />
        <FormEnd
          failed={t('Couldn’t add the secret')}
          error={task.error}
          busy={task.isPending}
          does={t('Add secret')}
          back="/secrets"
        />
      </OutcomeForm>
    </>
  );
}

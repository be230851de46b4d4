import { useRef, useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconEyeOff } from '@tabler/icons-react';
import { useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { DangerAction, DangerZone, DeleteForm } from '../../ui/danger-zone.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { FormEnd } from '../../ui/form-end.tsx';
import { ShortId } from '../../ui/identifier.tsx';
import { Expectations, Facts, PageHead, Panel } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { HoldButton, useReveal } from '../../ui/secret.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import type { SecretRecord } from '../../app/rpc/resources.ts';
import { useSubmit } from '../../app/rpc/vault.tsx';
import { ExportForm } from '../accounts/export-form.tsx';
import { ObjectTabs } from '../activity/object-tabs.tsx';
import {
  createdAt,
  encryptionSuite,
  nameOf,
  propertyTexts,
  useSecrets,
  useSendValue,
} from './secret-queries.ts';
import { ValueField, valueProblem } from './value-field.tsx';
import './secret-text.css';

export function Secret({ secretId }: { readonly secretId: string }): ReactNode {
  const { data, error, isPending, refetch } = useSecrets();
  const secret = data?.find((each) => each.secretId === secretId);
  return (
    <>
      <PageHead
        title={secret === undefined ? t('Secret') : nameOf(secret)}
        back={{ to: '/secrets', label: t('Secrets') }}
      />
      <ObjectTabs of={`/secrets/${secretId}`} />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the secret')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the secret')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && secret === undefined && (
        <Panel kind="plain">
          <Empty title={t('No such secret')}>
            <p>{t('It was deleted, or is in another organization.')}</p>
          </Empty>
        </Panel>
      )}
      {secret !== undefined && (
        <>
          <Panel>
            <Facts
              rows={[
                [t('ID'), <ShortId key="id" text={secret.secretId} copy={t('Copy secret ID')} />],
                [t('Created'), <RelativeTime key="made" at={createdAt(secret)} exact />],
                [
                  t('Reference'),
                  <Copyable
                    key="reference"
                    text={`keyhearth://${nameOf(secret)}`}
                    copy={t('Copy reference')}
                  />,
                ],
                ...(secret.staticProperties.length === 0
                  ? []
                  : [[t('Properties'), <PropertyLines key="properties" of={secret} />] as const]),
              ]}
            />
            <Text size="sm" c="dimmed" mt="sm">
              {t('Write the reference in a file of variables for “keyhearth run”.')}
            </Text>
          </Panel>
          <ManageSecret of={secret} />
        </>
      )}
    </>
  );
}

/** Under one label: a property may have the name of another fact. */
const PropertyLines = ({ of }: { readonly of: SecretRecord }): ReactNode =>
  propertyTexts(of).map((property) => <div key={property}>{visibleName(property)}</div>);

function ManageSecret({ of }: { readonly of: SecretRecord }): ReactNode {
  const { secretId } = of;
  const name = nameOf(of);
  const [, navigate] = useLocation();
  const exporting = useSubmit('ACTIVITY_TYPE_EXPORT_SECRETS');
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_SECRETS');
  return (
    <DangerZone>
      <DangerAction
        name={t('Show value')}
        about={t('Show the value, or copy it.')}
        title={t('Value of “{{name}}”', { name })}
      >
        {(close) => (
          <ExportForm
            submit={async (targetPublicKey) => {
              const { result } = await exporting.mutateAsync({
                secrets: [{ secretId, targetPublicKey, encryptionSuite }],
              });
              return { result: { exportBundle: result.secretPayloads[0] ?? '' } };
            }}
            what="secret"
            outcomes={[
              t('The value arrives encrypted and is shown on request.'),
              t('The log records that you exported it, not the value.'),
            ]}
            onDone={close}
          >
            {(value) => <SecretText value={value} />}
          </ExportForm>
        )}
      </DangerAction>
      <DangerAction
        name={t('Replace value')}
        about={t('Store another value under the same name.')}
        title={t('Replace the value of “{{name}}”', { name })}
      >
        {(close) => <ReplaceForm secretId={secretId} name={name} onDone={close} />}
      </DangerAction>
      <DangerAction
        name={t('Delete')}
        about={t('Remove the secret from this vault.')}
        title={t('Delete “{{name}}”', { name })}
        danger
      >
        {(close) => (
          <DeleteForm
            what="secret"
            loss={{
              title: t('Make sure there is another copy'),
              text: t('Without a copy or a backup, the value is lost.'),
            }}
            outcomes={[
              t('The value is erased.'),
              t('“keyhearth run” refuses files that name it. Log entries stay.'),
            ]}
            confirm={{ text: name, as: 'name' }}
            submitting={remove}
            onCancel={close}
            onDelete={() => {
              remove.mutate(
                { secretIds: [secretId] },
                {
                  onSuccess() {
                    navigate('/secrets', { replace: true });
                    notifications.show({ title: t('Secret deleted'), message: t('“{{name}}”', { name }) });
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

/** Read once: after the form is gone the bytes are zeros. @returns undefined for bytes that are not text. */
function textOf(value: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
  } catch {
    return undefined;
  }
}

function SecretText({ value }: { readonly value: Uint8Array }): ReactNode {
  const [text] = useState(() => textOf(value));
  const reveal = useReveal(text);
  const sheet = useRef<HTMLDivElement>(null);
  if (text === undefined) {
    return <Text>{t('This value is not text. “keyhearth secret get” writes it to a file.')}</Text>;
  }
  return (
    <div className="kh-sheet" ref={sheet} tabIndex={-1}>
      <pre className="kh-secret-text" aria-label={t('Value')}>
        {reveal.shown ? text.split('\n').map(visibleName).join('\n') : '•'.repeat(24)}
      </pre>
      <div className="kh-sheet-buttons">
        {reveal.shown ? (
          <Button
            variant="default"
            size="xs"
            leftSection={<IconEyeOff size={16} aria-hidden />}
            onClick={reveal.hide}
          >
            {t('Hide the value')}
          </Button>
        ) : (
          <HoldButton
            onHeld={() => {
              reveal.show();
              sheet.current?.focus();
            }}
          >
            {t('Show the value')}
          </HoldButton>
        )}
        <CopyButton text={text} copy={t('Copy value')} wide secret />
      </div>
      {reveal.ending}
      <Text size="sm" mt="sm">
        {t('Other programs can read the clipboard, which is cleared after 30 seconds.')}
      </Text>
    </div>
  );
}

interface ReplaceProps {
  readonly secretId: string;
  readonly name: string;
  readonly onDone: () => void;
}

function ReplaceForm({ secretId, name, onDone }: ReplaceProps): ReactNode {
  const [value, setValue] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const send = useSendValue();
  const replace = useSubmit('ACTIVITY_TYPE_UPDATE_SECRET');
  const task = useAsyncAction();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const bad = valueProblem(value);
    setWrong(bad);
    if (bad !== null) return;
    task.run(async () => {
      await send(value, (sealed) => replace.mutateAsync({ secretId, ...sealed }));
      notifications.show({ title: t('Value replaced'), message: t('“{{name}}”', { name }) });
      onDone();
    });
  };
  return (
    <form onSubmit={submit} noValidate autoComplete="off">
      <Stack gap="md">
        <Expectations
          items={[
            t('The earlier value is erased, but stays in backups that have it.'),
            t('Programs get the new value at their next start.'),
          ]}
        />
        <ValueField
          value={value}
          problem={wrong}
          onType={(typed) => {
            setValue(typed);
            setWrong(null);
          }}
        />
        <FormEnd
          failed={t('Couldn’t replace the value')}
          error={task.error}
          busy={task.isPending}
          does={t('Replace value')}
          back={onDone}
        />
      </Stack>
    </form>
  );
}

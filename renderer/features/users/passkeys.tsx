import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconFingerprint } from '@tabler/icons-react';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { fromBase64Url } from '../../ui/text/bytes.ts';
import { LastUse, useLastUses } from '../../ui/last-use.tsx';
import { DeleteForm, DialogButton } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { freeName, nameProblem } from '../../ui/text/names.ts';
import { Panel } from '../../ui/page.tsx';
import type { Authenticator, User } from '../../app/rpc/resources.ts';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { orFind } from '../../app/rpc/rpc-error.ts';
import { queryApi, useRpc, useStatus, useSubmit } from '../../app/rpc/vault.tsx';
import { makePasskey, passkeyObstacle } from './webauthn.ts';
import '../../ui/rows.css';

/** A user's passkeys, each with its end, and a new one where this page can make one. */
export function Passkeys({ user }: { readonly user: User }): ReactNode {
  const { authenticators } = user;
  const uses = useLastUses();
  const { rpId, url } = useStatus();
  const obstacle = passkeyObstacle(window.location, rpId);
  return (
    <Panel title={t('Passkeys')} kind="plain">
      {authenticators.length > 0 && (
        <ul className="kh-rows" aria-label={t('Passkeys')}>
          {authenticators.map((authenticator) => (
            <li key={authenticator.authenticatorId} className="kh-row kh-manage">
              <div>
                <span className="kh-row-name">{visibleName(authenticator.authenticatorName)}</span>
                <br />
                <span className="kh-row-more">
                  {authenticator.model !== '' && `${authenticator.model} · `}
                  <Trans
                    i18nKey="Registered <moment/>"
                    components={{ moment: <RelativeTime at={authenticator.createdAt} /> }}
                  />
                  {uses !== undefined && (
                    <>
                      {' · '}
                      <LastUse at={uses.get(authenticator.authenticatorId)} />
                    </>
                  )}
                </span>
              </div>
              <DeletePasskey of={authenticator} user={user} />
            </li>
          ))}
        </ul>
      )}
      <div className="kh-rows-foot" data-first={authenticators.length === 0 || undefined}>
        {authenticators.length === 0 && (
          <Text c="dimmed" size="sm" mb="md">
            {t('None yet. {{userName}} can sign requests with a fingerprint, a face or a security key.', {
              userName: user.userName,
            })}
          </Text>
        )}
        {authenticators.length > 0 && (
          <Text c="dimmed" size="sm" mb="md">
            {t('{{userName}} approves at {{address}} with a passkey.', {
              userName: user.userName,
              address: `http://${rpId}:${new URL(url).port}/approver`,
            })}
          </Text>
        )}
        {obstacle === null ? <RegisterPasskey user={user} rpId={rpId} /> : <Text size="sm">{obstacle}</Text>}
      </div>
    </Panel>
  );
}

interface RegisterProps {
  readonly user: User;
  readonly rpId: string;
}

function RegisterPasskey({ user, rpId }: RegisterProps): ReactNode {
  const { userId, userName, authenticators } = user;
  const taken = authenticators.map(({ authenticatorName }) => authenticatorName);
  const rpc = useRpc();
  const [typedName, setTypedName] = useState<string | null>(null);
  const register = useSubmit('ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2');
  const task = useAsyncAction();
  const name = (typedName ?? freeName('Passkey', taken)).trim();
  const problem = task.isPending ? null : nameProblem(name, taken);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (problem !== null) return;
    // The name stays where the answer is lost: with the next free one, the next press would do this twice.
    setTypedName(name);
    task.run(async () => {
      const passkey = await makePasskey({
        rpId,
        userId,
        userName,
        present: authenticators.map(({ credentialId }) => fromBase64Url(credentialId)),
      });
      await orFind<unknown>(
        () => register.mutateAsync({ userId, authenticators: [{ authenticatorName: name, ...passkey }] }),
        async () =>
          (await queryApi(rpc, 'get_user', { userId })).user.authenticators.find(
            ({ credentialId }) => credentialId === passkey.attestation.credentialId,
          ),
      );
      setTypedName(null);
      notifications.show({
        title: t('Passkey registered'),
        message: t('“{{name}}” now signs for {{userName}}.', { name, userName }),
      });
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Group gap="sm" align="end">
          <NameField
            label={t('Name of the new passkey')}
            description={t('For example, the device’s name.')}
            value={typedName ?? name}
            problem={problem}
            others={taken}
            onType={setTypedName}
          />
          <Button
            type="submit"
            variant="default"
            leftSection={<IconFingerprint size={16} aria-hidden />}
            loading={task.isPending}
          >
            {t('Register passkey')}
          </Button>
        </Group>
        <Failure title={t('Couldn’t register the passkey')} error={task.error} />
      </Stack>
    </form>
  );
}

interface DeleteProps {
  readonly of: Authenticator;
  readonly user: User;
}

function DeletePasskey({ of, user }: DeleteProps): ReactNode {
  const remove = useSubmit('ACTIVITY_TYPE_DELETE_AUTHENTICATORS');
  const { authenticatorId, authenticatorName } = of;
  const { userName, apiKeys, authenticators, oauthProviders, userEmail = '', userPhoneNumber = '' } = user;
  const others = apiKeys.length + authenticators.length - 1 + oauthProviders.length;
  const isLastWay = others === 0 && userEmail === '' && userPhoneNumber === '';
  return (
    <DialogButton
      name={t('Delete…')}
      label={t('Delete passkey {{authenticatorName}}', { authenticatorName })}
      title={t('Delete “{{authenticatorName}}”', { authenticatorName })}
      danger
    >
      {(close) => (
        <DeleteForm
          what="passkey"
          {...(isLastWay
            ? {
                loss: {
                  title: t('Last way to sign in'),
                  text: t('Without this passkey, {{userName}} can’t sign in until you add another way.', {
                    userName,
                  }),
                },
                confirm: { text: authenticatorName, as: 'name' },
              }
            : {})}
          outcomes={[
            t('Requests it signs for {{userName}} are refused.', { userName }),
            t('Also delete the passkey on its device or browser.'),
          ]}
          submitting={remove}
          onCancel={close}
          onDelete={() => {
            remove.mutate(
              { userId: user.userId, authenticatorIds: [authenticatorId] },
              {
                onSuccess() {
                  close();
                  notifications.show({
                    title: t('Passkey deleted'),
                    message: t('“{{authenticatorName}}” no longer works.', { authenticatorName }),
                  });
                },
              },
            );
          }}
        />
      )}
    </DialogButton>
  );
}

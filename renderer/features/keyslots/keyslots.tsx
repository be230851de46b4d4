import type { ReactNode } from 'react';
import { Button, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { Keyslot } from '../../../preload/contract.ts';
import { ShortId } from '../../ui/identifier.tsx';
import { CheckForm, KeychainForm, PasswordForm, RemoveForm, RotateForm } from './keyslot-dialogs.tsx';
import { textsOf, textsOfOne } from './keyslot-texts.ts';
import { lastOne, useKeyslots } from './keyslot-queries.ts';
import { KeychainNote } from './keychain-note.tsx';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { useStatus } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** The ways to open the vault: shown, added, changed, removed; and the master key. */
export function Keyslots(): ReactNode {
  const { data, error, isPending, refetch } = useKeyslots();
  return (
    <>
      <PageHead title={t('Unlock methods')} lead={t('Any one of these opens the vault’s master key.')} />
      <Panel
        title={t('In use')}
        kind="plain"
        aside={
          data !== undefined && (
            <Text size="sm" c="dimmed">
              <Trans
                i18nKey="Vault <shortId/>"
                components={{ shortId: <ShortId text={data.vaultId} copy={t('Copy vault ID')} /> }}
              />
            </Text>
          )
        }
      >
        {isPending && <LoadingRows label={t('Loading the unlock methods')} />}
        <Failure title={t('Couldn’t load the unlock methods')} error={error} onRetry={() => void refetch()} />
        {data !== undefined && (
          <ul className="kh-rows" aria-label={t('Unlock methods in use')}>
            {data.keyslots.map((slot) => (
              <Slot key={slot.id} slot={slot} all={data.keyslots} />
            ))}
          </ul>
        )}
      </Panel>
      {data !== undefined && (
        <>
          <More slots={data.keyslots} />
          <MasterKey slots={data.keyslots} />
        </>
      )}
    </>
  );
}

interface SlotProps {
  readonly slot: Keyslot;
  readonly all: readonly Keyslot[];
}

function Slot({ slot, all }: SlotProps): ReactNode {
  const texts = textsOf(slot, all);
  const refused = lastOne(all, slot);
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{texts.name}</span>
        <br />
        <span className="kh-row-more">
          <Trans
            i18nKey="Created <moment/>"
            components={{ moment: <RelativeTime at={timestampOf(slot.createdAt)} /> }}
          />
          {slot.kind === 'recovery' &&
            (slot.confirmedAt === null ? (
              ` · ${t('not checked')}`
            ) : (
              <>
                {' · '}
                <Trans
                  i18nKey="checked <moment/>"
                  components={{ moment: <RelativeTime at={timestampOf(slot.confirmedAt)} /> }}
                />
              </>
            ))}
          {refused !== undefined && ` · ${refused}`}
        </span>
      </div>
      <Group gap="xs">
        {slot.kind === 'recovery' && (
          <>
            <DialogButton
              name={t('Check…')}
              {...(texts.change === undefined ? {} : { label: texts.change })}
              title={t('Check recovery phrase')}
            >
              {(close) => <CheckForm onClose={close} />}
            </DialogButton>
            <Button component={Link} href={`/keyslots/${slot.id}/new-phrase`} variant="default" size="xs">
              {t('Replace…')}
            </Button>
          </>
        )}
        {slot.kind === 'password' && (
          <DialogButton
            name={t('Change…')}
            {...(texts.change === undefined ? {} : { label: texts.change })}
            title={t('Change password')}
          >
            {(close) => <PasswordForm change={slot} onClose={close} />}
          </DialogButton>
        )}
        {refused === undefined && (
          <DialogButton name={t('Remove…')} label={texts.remove} title={textsOfOne[slot.kind].remove} danger>
            {(close) => <RemoveForm slot={slot} onClose={close} />}
          </DialogButton>
        )}
      </Group>
    </li>
  );
}

function More({ slots }: { readonly slots: readonly Keyslot[] }): ReactNode {
  const { keychain } = useStatus();
  const has = (wanted: Keyslot['kind']): boolean => slots.some(({ kind }) => kind === wanted);
  return (
    <Panel title={t('Add a method')} kind="plain">
      <ul className="kh-rows" aria-label={t('Add a method')}>
        <Way
          name={has('password') ? t('Another password') : t('Password')}
          about={t('For another person or computer.')}
        >
          <DialogButton name={t('Add password…')} title={t('Add password')}>
            {(close) => <PasswordForm onClose={close} />}
          </DialogButton>
        </Way>
        <Way
          name={t('This computer’s keychain')}
          about={
            keychain.available
              ? t('Opens while you are logged in. Your other programs can use the keychain too.')
              : undefined
          }
          note={<KeychainNote says={(reason) => t('Not available: {{reason}}', { reason })} />}
        >
          {keychain.available && (
            <DialogButton name={t('Add keychain…')} title={t('Add keychain')}>
              {(close) => <KeychainForm onClose={close} />}
            </DialogButton>
          )}
        </Way>
        <Way
          name={has('recovery') ? t('Another recovery phrase') : t('Recovery phrase')}
          about={t('24 additional words. To retire the old words, replace them.')}
        >
          <Button component={Link} href="/keyslots/another/new-phrase" variant="default" size="xs">
            {t('Add recovery phrase…')}
          </Button>
        </Way>
        <Way
          name={t('Recovery sheet')}
          about={t('The recovery phrase or shares, with a QR code and instructions.')}
        >
          <Button component={Link} href="/keyslots/sheet" variant="default" size="xs">
            {t('Print…')}
          </Button>
        </Way>
      </ul>
    </Panel>
  );
}

interface WayProps {
  readonly name: string;
  readonly about: string | undefined;
  readonly note?: ReactNode;
  readonly children: ReactNode;
}

const Way = ({ name, about, note, children }: WayProps): ReactNode => (
  <li className="kh-row kh-manage">
    <div>
      <span className="kh-row-name">{name}</span>
      {about !== undefined && (
        <Text size="sm" c="dimmed">
          {about}
        </Text>
      )}
      {note}
    </div>
    {children}
  </li>
);

function MasterKey({ slots }: { readonly slots: readonly Keyslot[] }): ReactNode {
  return (
    <Panel title={t('Master key')}>
      <Stack gap="md" align="start">
        <Text size="sm" maw="66ch">
          {t('If someone may know the master key or an old secret. Your keys and addresses stay.')}
        </Text>
        <DialogButton name={t('Replace the master key…')} title={t('Replace the master key')}>
          {(close) => <RotateForm slots={slots} onClose={close} />}
        </DialogButton>
      </Stack>
    </Panel>
  );
}

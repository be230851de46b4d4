import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, NativeSelect, NumberInput, Stack, Switch, Text } from '@mantine/core';
import { IconChevronRight } from '@tabler/icons-react';
import { Link } from 'wouter';
import { publishedLimits } from '../../../main/lib/published-limits.ts';
import type { Settings as SettingsNow, SettingsChange } from '../../../preload/contract.ts';
import { agesOf } from '../backups/backup-ages.tsx';
import { useKeyslots } from '../keyslots/keyslot-queries.ts';
import { LanguageChoice } from './language-choice.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { SchemeSwitch } from '../../app/shell/scheme-switch.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { t, Trans } from '../../app/i18n/text.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { sayDone } from '../../app/shell/undo.tsx';
import { useBackups, useMessages, useSettings, useSettingsCall, useStatus } from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** The vault's behavior on this computer. */
export function Settings(): ReactNode {
  const { data, error, isPending, refetch } = useSettings();
  return (
    <>
      <PageHead
        title={t('Settings')}
        lead={t(
          'How the vault behaves on this computer: when it locks, what may leave it, and how it looks.',
        )}
      />
      <Pages />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading settings')} />
        </Panel>
      )}
      <Failure title={t('The settings could not be read')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && (
        <>
          <Locking of={data} />
          <Network of={data} />
          <Port of={data} key={data.port} />
          <Limits of={data} key={`limits ${String(data.limits)}`} />
          <Shell of={data} />
        </>
      )}
      <Panel title={t('Appearance')}>
        <Stack gap="md" maw={420}>
          <SchemeSwitch named />
          <LanguageChoice />
        </Stack>
      </Panel>
    </>
  );
}

/** Settings with a page of their own, and their state. */
function Pages(): ReactNode {
  const slots = useKeyslots().data?.keyslots;
  const backups = useBackups().data;
  const messages = useMessages().data;
  return (
    <Panel title={t('The vault')} kind="plain">
      <ul className="kh-rows" aria-label={t('The vault')}>
        <Page to="/keyslots" name={t('Unlock methods')}>
          {slots !== undefined && t('{{count}} ways to open it', { count: slots.length })}
        </Page>
        <Page to="/backups" name={t('Backups')}>
          {backups !== undefined && <LastBackup made={agesOf(backups).made} />}
        </Page>
        <Page to="/messages" name={t('Messages')}>
          {messages !== undefined &&
            (messages.mail === null && messages.sms === null
              ? t('Neither mail nor SMS is set up')
              : messages.mail === null
                ? t('SMS is set up')
                : messages.sms === null
                  ? t('Mail is set up')
                  : t('Mail and SMS are set up'))}
        </Page>
        <Page to="/about" name={t('About')}>
          {t('Version, licences, and a test of what the vault rests on')}
        </Page>
      </ul>
    </Panel>
  );
}

function LastBackup({ made }: { readonly made: number | undefined }): ReactNode {
  if (made === undefined) return t('No backup yet');
  return (
    <Trans
      i18nKey="The last was made <when/>"
      components={{ when: <RelativeTime at={timestampOf(made)} /> }}
    />
  );
}

interface PageProps {
  readonly to: string;
  readonly name: string;
  readonly children: ReactNode;
}

const Page = ({ to, name, children }: PageProps): ReactNode => (
  <li>
    <Link href={to} className="kh-row kh-manage">
      <span>
        <span className="kh-row-name">{name}</span>
        <br />
        <span className="kh-row-more">{children}</span>
      </span>
      <IconChevronRight size={18} aria-hidden />
    </Link>
  </li>
);

interface Part {
  readonly of: SettingsNow;
}

/** Changes settings, says so, and offers the way back. */
function useChange(of: SettingsNow) {
  const call = useSettingsCall();
  const before = ({
    autoLock,
    port,
    network,
    limits,
    startAtLogin,
    updates,
  }: SettingsNow): SettingsChange => ({
    autoLock,
    port,
    network,
    limits,
    ...(startAtLogin === null ? {} : { startAtLogin }),
    ...(updates === null ? {} : { updates }),
  });
  return {
    isPending: call.isPending,
    error: call.error,
    change: (wanted: SettingsChange, said: string, more?: string) => {
      call.mutate(wanted, {
        onSuccess() {
          sayDone({
            title: said,
            ...(more === undefined ? {} : { message: more }),
            undo: () => call.mutateAsync(before(of)),
          });
        },
      });
    },
  };
}

const idleChoices = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480];

function Locking({ of }: Part): ReactNode {
  const { change, error, isPending } = useChange(of);
  const { idleMinutes, requestsKeepOpen, onScreenLock, onSuspend } = of.autoLock;
  // Its shell hears of the screen, and of a person who is away.
  const { desktop } = of;
  const choices =
    idleMinutes === null || idleChoices.includes(idleMinutes)
      ? idleChoices
      : [...idleChoices, idleMinutes].sort((a, b) => a - b);
  return (
    <Panel title={t('Auto-lock')}>
      <Stack gap="md" maw={560}>
        <NativeSelect
          label={t('Lock the vault')}
          description={
            desktop !== null
              ? t('Counted from the last key or pointer that was moved on this computer.')
              : t('Counted from the last use of a window, also after it is closed.')
          }
          value={String(idleMinutes)}
          disabled={isPending}
          data={[
            ...choices.map((minutes) => ({ value: String(minutes), label: afterMinutes(minutes) })),
            { value: 'null', label: t('never by itself') },
          ]}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const minutes = value === 'null' ? null : Number(value);
            change(
              { autoLock: { idleMinutes: minutes } },
              minutes === null ? t('The vault stays open until you lock it') : t('Auto-lock is changed'),
              minutes === null ? undefined : locksAfter(minutes),
            );
          }}
        />
        <Switch
          label={t('Requests of scripts keep it open')}
          description={t(
            'Each request that signs or changes something counts as use. Requests that only read, that are refused, or that come from a sub-organization do not count.',
          )}
          checked={requestsKeepOpen}
          disabled={isPending || idleMinutes === null}
          onChange={(event) => {
            const { checked } = event.currentTarget;
            change({ autoLock: { requestsKeepOpen: checked } }, t('Auto-lock is changed'));
          }}
        />
        {desktop !== null && (
          <>
            <Switch
              label={t('Lock when the screen locks')}
              description={!desktop.reportsLock && t('This desktop does not report when it is locked.')}
              checked={onScreenLock}
              disabled={isPending}
              onChange={(event) => {
                change(
                  { autoLock: { onScreenLock: event.currentTarget.checked } },
                  t('Auto-lock is changed'),
                );
              }}
            />
            <Switch
              label={t('Lock when the computer goes to sleep')}
              checked={onSuspend}
              disabled={isPending}
              onChange={(event) => {
                change({ autoLock: { onSuspend: event.currentTarget.checked } }, t('Auto-lock is changed'));
              }}
            />
          </>
        )}
        <Failure title={t('Auto-lock was not changed')} error={error} />
      </Stack>
    </Panel>
  );
}

const locksAfter = (minutes: number): string =>
  minutes % 60 === 0
    ? t('The vault locks after {{count}} hours without use.', { count: minutes / 60 })
    : t('The vault locks after {{count}} minutes without use.', { count: minutes });

const afterMinutes = (minutes: number): string =>
  minutes % 60 === 0
    ? t('after {{count}} hours without use', { count: minutes / 60 })
    : t('after {{count}} minutes without use', { count: minutes });

function Network({ of }: Part): ReactNode {
  const { change, error, isPending } = useChange(of);
  return (
    <Panel title={t('Network')}>
      <Stack gap="md" maw={620}>
        <Switch
          label={t('Allow connections to other machines')}
          description={
            of.network
              ? t(
                  'The vault itself connects for what you set up and nothing else: mail, SMS, webhooks, the keys of sign-in providers, and updates if you have it look for them.',
                )
              : t(
                  'Nothing leaves this computer. Mail, SMS and webhooks wait, sign-ins that need a provider’s new keys fail, and no update is looked for. What is on this computer works as before.',
                )
          }
          checked={of.network}
          disabled={isPending}
          onChange={(event) => {
            const network = event.currentTarget.checked;
            change(
              { network },
              network ? t('The network is switched on') : t('The network is switched off'),
              network ? t('What waited is sent now.') : t('Nothing leaves this computer.'),
            );
          }}
        />
        <Failure title={t('The switch was not turned')} error={error} />
      </Stack>
    </Panel>
  );
}

const leastPort = 1024;
const greatestPort = 65_535;

function Port({ of }: Part): ReactNode {
  const { url } = useStatus();
  const { change, error, isPending } = useChange(of);
  const [typed, setTyped] = useState<string | number>(of.port ?? '');
  const [tried, setTried] = useState(false);
  const wanted = typed === '' ? null : Number(typed);
  const isFine =
    wanted === null || (Number.isInteger(wanted) && wanted >= leastPort && wanted <= greatestPort);
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isFine || wanted === of.port) return;
    change(
      { port: wanted },
      t('The port is changed'),
      t('It is used from the next start on. Scripts need the new address then.'),
    );
  };
  return (
    <Panel title={t('API')}>
      <form onSubmit={save} noValidate>
        <Stack gap="md" maw={560}>
          <Text size="sm">
            <Trans
              i18nKey="Scripts on this computer reach the vault at <address>{{url}}</address> now."
              values={{ url }}
              components={{ address: <span className="kh-mono" /> }}
            />
          </Text>
          <Group align="end" gap="sm">
            <NumberInput
              label={t('Port')}
              description={t(
                'From the next start on; empty for the usual one. A --port given at the start goes before it.',
              )}
              placeholder={t('usual')}
              allowDecimal={false}
              allowNegative={false}
              thousandSeparator=""
              min={leastPort}
              max={greatestPort}
              clampBehavior="none"
              hideControls
              value={typed}
              error={
                tried && !isFine
                  ? t('A number from {{least}} to {{most}}.', { least: leastPort, most: greatestPort })
                  : null
              }
              onChange={setTyped}
            />
            <Button type="submit" variant="default" loading={isPending}>
              {t('Save the port')}
            </Button>
          </Group>
          <Failure title={t('The port was not changed')} error={error} />
        </Stack>
      </form>
    </Panel>
  );
}

const mostTimes = 100;

/** Limits of an organization. */
function Limits({ of }: Part): ReactNode {
  const { change, error, isPending } = useChange(of);
  const [typed, setTyped] = useState<string | number>(of.limits);
  const [tried, setTried] = useState(false);
  const wanted = Number(typed);
  const isFine = typed !== '' && Number.isInteger(wanted) && wanted >= 1 && wanted <= mostTimes;
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (!isFine || wanted === of.limits) return;
    change({ limits: wanted }, t('The limits are changed'));
  };
  const times = isFine ? wanted : of.limits;
  return (
    <Panel title={t('Limits')}>
      <form onSubmit={save} noValidate>
        <Stack gap="md" maw={620}>
          <Text size="sm">
            {t(
              'An organization can have {{users}} users, {{wallets}} wallets, {{policies}} policies, {{tags}} tags and {{keys}} private keys; a user {{credentials}} API keys and as many passkeys. A request beyond a limit is refused.',
              {
                users: times * publishedLimits.usersPerOrganization,
                wallets: times * publishedLimits.walletsPerOrganization,
                policies: times * publishedLimits.policiesPerOrganization,
                tags: times * publishedLimits.tagsPerOrganization,
                keys: times * publishedLimits.privateKeysPerOrganization,
                credentials: times * publishedLimits.longLivedApiKeysPerUser,
              },
            )}
          </Text>
          <Group align="end" gap="sm">
            <NumberInput
              label={t('Times the usual limits')}
              description={t('A number from 1 to 100. Lowering it keeps what is there.')}
              allowDecimal={false}
              allowNegative={false}
              min={1}
              max={mostTimes}
              clampBehavior="none"
              hideControls
              value={typed}
              error={
                tried && !isFine
                  ? t('A number from {{least}} to {{most}}.', { least: 1, most: mostTimes })
                  : null
              }
              onChange={setTyped}
            />
            <Button type="submit" variant="default" loading={isPending}>
              {t('Save the limits')}
            </Button>
          </Group>
          <Failure title={t('The limits were not changed')} error={error} />
        </Stack>
      </form>
    </Panel>
  );
}

/** Settings of the desktop app alone. */
function Shell({ of }: Part): ReactNode {
  const { change, error, isPending } = useChange(of);
  const { startAtLogin, updates, desktop } = of;
  if (startAtLogin === null && updates === null && desktop === null) return null;
  return (
    <Panel title={t('The app')}>
      <Stack gap="md" maw={620}>
        {startAtLogin !== null && (
          <Switch
            label={t('Start when I log in')}
            description={t('Locked, and in the tray: scripts find it there, and wait for you to unlock it.')}
            checked={startAtLogin}
            disabled={isPending}
            onChange={(event) => {
              const on = event.currentTarget.checked;
              change(
                { startAtLogin: on },
                on ? t('Keyhearth starts when you log in') : t('Keyhearth starts when you start it'),
              );
            }}
          />
        )}
        {updates !== null && (
          <Switch
            label={t('Look for updates')}
            description={t('It asks before it fetches one. While this is off, it never asks anybody.')}
            checked={updates === 'ask'}
            disabled={isPending}
            onChange={(event) => {
              const on = event.currentTarget.checked;
              change(
                { updates: on ? 'ask' : 'off' },
                on ? t('Keyhearth looks for updates') : t('Keyhearth looks for no updates'),
              );
            }}
          />
        )}
        {desktop !== null && <FreezeShortcut state={desktop.freezeShortcut} />}
        <Failure title={t('The app’s settings were not changed')} error={error} />
      </Stack>
    </Panel>
  );
}

/** The keys of the shortcut; main/desktop/freeze.ts has them in Electron's spelling. */
const freezeKeys = navigator.userAgent.includes('Mac') ? '⌘⌥⇧F' : 'Ctrl+Alt+Shift+F';

interface FreezeShortcutProps {
  readonly state: NonNullable<SettingsNow['desktop']>['freezeShortcut'];
}

/** Shows if the global shortcut for freezing works: the owner must not find out in an emergency. */
function FreezeShortcut({ state }: FreezeShortcutProps): ReactNode {
  const keys = freezeKeys;
  return (
    <Text size="sm">
      {state === 'bound' && t('{{keys}} freezes all signing, whatever app is in front.', { keys })}
      {state === 'taken' &&
        t('Another app has the shortcut {{keys}}. Freeze all signing from the tray or here.', { keys })}
      {state === 'unknown' &&
        t(
          'This desktop gives out shortcuts itself and does not tell Keyhearth. Look for Keyhearth in its keyboard settings, and try {{keys}} once: it freezes all signing.',
          { keys },
        )}
    </Text>
  );
}

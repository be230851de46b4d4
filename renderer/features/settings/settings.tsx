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
import { SingleKeysSwitch } from './single-keys-switch.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { SchemeSwitch } from '../../app/shell/scheme-switch.tsx';
import { Failure, LoadingRows } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { timestampOf } from '../../ui/text/time.ts';
import { areSame, ChangedMeanwhile, useMeanwhile } from '../../app/meanwhile.tsx';
import { sayDone } from '../../app/shell/undo.tsx';
import {
  useBackups,
  useMessages,
  useRpc,
  useSettings,
  useSettingsCall,
  useStatus,
} from '../../app/rpc/vault.tsx';
import '../../ui/rows.css';

/** The vault's behavior on this computer. */
export function Settings(): ReactNode {
  const { data, error, isPending, refetch } = useSettings();
  return (
    <>
      <PageHead title={t('Settings')} lead={t('How the vault locks, connects and looks on this computer.')} />
      <Pages />
      {isPending && (
        <Panel kind="plain">
          <LoadingRows label={t('Loading the settings')} />
        </Panel>
      )}
      <Failure title={t('Couldn’t load the settings')} error={error} onRetry={() => void refetch()} />
      {data !== undefined && (
        <>
          <Locking of={data} />
          <Network of={data} />
          <Port of={data} />
          <Limits of={data} />
          <Shell of={data} />
        </>
      )}
      <Panel title={t('Appearance')}>
        <Stack gap="md" maw={420}>
          <SchemeSwitch named />
          <LanguageChoice />
          <SingleKeysSwitch />
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
          {slots !== undefined && t('{{count}} unlock methods', { count: slots.length })}
        </Page>
        <Page to="/backups" name={t('Backups')}>
          {backups !== undefined && <LastBackup made={agesOf(backups).made} />}
        </Page>
        <Page to="/messages" name={t('Messages')}>
          {messages !== undefined &&
            (messages.mail === null && messages.sms === null
              ? t('Email and SMS are not set up')
              : messages.mail === null
                ? t('SMS is set up')
                : messages.sms === null
                  ? t('Email is set up')
                  : t('Email and SMS are set up'))}
        </Page>
        <Page to="/about" name={t('About')}>
          {t('Versions, self-test and licenses')}
        </Page>
      </ul>
    </Panel>
  );
}

function LastBackup({ made }: { readonly made: number | undefined }): ReactNode {
  if (made === undefined) return t('No backup yet');
  return (
    <Trans i18nKey="Last backup <when/>" components={{ when: <RelativeTime at={timestampOf(made)} /> }} />
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

/** The members that a change names, as they are in something else. */
const namedBy = <Of extends object>(change: object, of: Of): Partial<Of> =>
  Object.fromEntries(Object.entries(of).filter(([name]) => name in change)) as Partial<Of>;

/** Returns the members that a change replaces. An Undo leaves the others alone, which a command may have changed since. */
const replacedBy = (
  change: SettingsChange,
  { autoLock, port, network, limits, startAtLogin, updates }: SettingsNow,
): SettingsChange => ({
  ...namedBy(change, { port, network, limits }),
  ...(startAtLogin !== null && namedBy(change, { startAtLogin })),
  ...(updates !== null && namedBy(change, { updates })),
  ...(change.autoLock !== undefined && { autoLock: namedBy(change.autoLock, autoLock) }),
});

/** Changes settings, says so, and offers the way back. */
function useChange(of: SettingsNow) {
  const rpc = useRpc();
  const call = useSettingsCall();
  const say = (wanted: SettingsChange, done: SettingsNow, said: string, more?: string): void => {
    sayDone({
      title: said,
      ...(more === undefined ? {} : { message: more }),
      isAsDone: async () => areSame(replacedBy(wanted, await rpc.settings()), replacedBy(wanted, done)),
      undo: () => call.mutateAsync(replacedBy(wanted, of)),
    });
  };
  return {
    isPending: call.isPending,
    error: call.error,
    change: (wanted: SettingsChange, said: string, more?: string) => {
      call.mutate(wanted, {
        onSuccess(done) {
          say(wanted, done, said, more);
        },
      });
    },
    /** For a form that waits for it. */
    changeNow: async (wanted: SettingsChange, said: string, more?: string) => {
      say(wanted, await call.mutateAsync(wanted), said, more);
    },
  };
}

type NumberName = 'port' | 'limits';

const textOf = (number: number | null): string => String(number ?? '');

interface NumberForm {
  readonly name: NumberName;
  readonly of: SettingsNow;
  readonly label: string;
  /** The number that an empty field stands for. */
  readonly usual?: string;
  readonly send: (wanted: number | null) => Promise<void>;
}

/** A number that is typed, and saved by a button. Another person may save one meanwhile. */
function useNumberForm({ name, of, label, usual, send }: NumberForm) {
  const { refetch } = useSettings();
  const saving = useAsyncAction();
  const [typed, setTyped] = useState<string | number>(of[name] ?? '');
  const wanted = typed === '' ? null : Number(typed);
  const saved = { number: textOf(of[name]) };
  const sent = { number: textOf(wanted) };
  const onTake = () => {
    setTyped(of[name] ?? '');
  };
  const meanwhile = useMeanwhile({ name, saved, typed: sent, isSaving: saving.isPending, onTake });
  return {
    typed,
    setTyped,
    wanted,
    isPending: saving.isPending,
    error: saving.error,
    save: () => {
      if (meanwhile.isOutdated || areSame(sent, saved)) return;
      saving.run(async () => {
        await meanwhile.save({
          sent,
          readNow: async () => {
            const { data } = await refetch({ throwOnError: true });
            return { number: textOf(data?.[name] ?? null) };
          },
          send: () => send(wanted),
        });
      });
    },
    changed: (
      <ChangedMeanwhile
        meanwhile={meanwhile}
        saved={saved}
        labels={{ number: label }}
        {...(usual !== undefined && { words: { number: new Map([['', usual]]) } })}
        onTake={onTake}
      />
    ),
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
              ? t('After the last input on this computer.')
              : t('After the last use of a window.')
          }
          value={String(idleMinutes)}
          disabled={isPending}
          data={[
            ...choices.map((minutes) => ({ value: String(minutes), label: afterMinutes(minutes) })),
            { value: 'null', label: t('never') },
          ]}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const minutes = value === 'null' ? null : Number(value);
            change(
              { autoLock: { idleMinutes: minutes } },
              minutes === null ? t('The vault stays open until you lock it') : t('Auto-lock changed'),
              minutes === null ? undefined : locksAfter(minutes),
            );
          }}
        />
        <Switch
          label={t('Requests from scripts keep the vault open')}
          description={t('Signing and changes count as use. Reads, refusals and sub-organizations do not.')}
          checked={requestsKeepOpen}
          disabled={isPending || idleMinutes === null}
          onChange={(event) => {
            const { checked } = event.currentTarget;
            change({ autoLock: { requestsKeepOpen: checked } }, t('Auto-lock changed'));
          }}
        />
        {desktop !== null && (
          <>
            <Switch
              label={t('Lock when the screen locks')}
              description={!desktop.reportsLock && t('This desktop does not report screen locks.')}
              checked={onScreenLock}
              disabled={isPending}
              onChange={(event) => {
                change({ autoLock: { onScreenLock: event.currentTarget.checked } }, t('Auto-lock changed'));
              }}
            />
            <Switch
              label={t('Lock when the computer sleeps')}
              checked={onSuspend}
              disabled={isPending}
              onChange={(event) => {
                change({ autoLock: { onSuspend: event.currentTarget.checked } }, t('Auto-lock changed'));
              }}
            />
          </>
        )}
        <Failure title={t('Couldn’t change auto-lock')} error={error} />
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
          label={t('Allow outgoing connections')}
          description={
            of.network
              ? t('For email, SMS, webhooks, sign-in providers and updates you set up.')
              : t('Email, SMS, webhooks and update checks wait. Sign-ins that need new provider keys fail.')
          }
          checked={of.network}
          disabled={isPending}
          onChange={(event) => {
            const network = event.currentTarget.checked;
            change(
              { network },
              network ? t('Network turned on') : t('Network turned off'),
              network ? t('Waiting messages and events are sent now.') : t('Nothing leaves this computer.'),
            );
          }}
        />
        <Failure title={t('Couldn’t change the network setting')} error={error} />
      </Stack>
    </Panel>
  );
}

const leastPort = 1024;
const greatestPort = 65_535;
const usualPort = '7377';

function Port({ of }: Part): ReactNode {
  const { url } = useStatus();
  const { changeNow } = useChange(of);
  const [tried, setTried] = useState(false);
  const form = useNumberForm({
    name: 'port',
    of,
    label: t('Port'),
    usual: usualPort,
    send: (port) =>
      changeNow({ port }, t('Port changed'), t('Takes effect at the next start. Update your scripts then.')),
  });
  const { typed, wanted } = form;
  const isFine =
    wanted === null || (Number.isInteger(wanted) && wanted >= leastPort && wanted <= greatestPort);
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (isFine) form.save();
  };
  return (
    <Panel title={t('API')}>
      <form onSubmit={save} noValidate>
        <Stack gap="md" maw={560}>
          <Text size="sm">
            <Trans
              i18nKey="Scripts reach the vault at <address>{{url}}</address>."
              values={{ url }}
              components={{ address: <span className="kh-mono" /> }}
            />
          </Text>
          <Group align="end" gap="sm">
            <NumberInput
              label={t('Port')}
              description={t('Takes effect at the next start. Leave empty for 7377.')}
              placeholder={usualPort}
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
                  ? t('Enter a number from {{least}} to {{most}}.', { least: leastPort, most: greatestPort })
                  : null
              }
              onChange={form.setTyped}
            />
            <Button type="submit" variant="default" loading={form.isPending}>
              {t('Save port')}
            </Button>
          </Group>
          {form.changed}
          <Failure title={t('Couldn’t change the port')} error={form.error} />
        </Stack>
      </form>
    </Panel>
  );
}

const mostTimes = 100;

/** Limits of an organization. */
function Limits({ of }: Part): ReactNode {
  const { changeNow } = useChange(of);
  const [tried, setTried] = useState(false);
  const form = useNumberForm({
    name: 'limits',
    of,
    label: t('Multiplier'),
    send: (limits) => changeNow({ limits: limits ?? of.limits }, t('Limits changed')),
  });
  const { typed, wanted } = form;
  const isFine = wanted !== null && Number.isInteger(wanted) && wanted >= 1 && wanted <= mostTimes;
  const save = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (isFine) form.save();
  };
  const times = isFine ? wanted : of.limits;
  return (
    <Panel title={t('Limits')}>
      <form onSubmit={save} noValidate>
        <Stack gap="md" maw={620}>
          <Text size="sm">
            {t(
              'Per organization: {{users}} users, {{wallets}} wallets, {{policies}} policies, {{tags}} tags, {{keys}} private keys. Per user: {{credentials}} API keys and as many passkeys.',
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
              label={t('Multiplier')}
              description={t('From 1 to 100. Lowering the limits deletes nothing.')}
              allowDecimal={false}
              allowNegative={false}
              min={1}
              max={mostTimes}
              clampBehavior="none"
              hideControls
              value={typed}
              error={
                tried && !isFine
                  ? t('Enter a number from {{least}} to {{most}}.', { least: 1, most: mostTimes })
                  : null
              }
              onChange={form.setTyped}
            />
            <Button type="submit" variant="default" loading={form.isPending}>
              {t('Save limits')}
            </Button>
          </Group>
          {form.changed}
          <Failure title={t('Couldn’t change the limits')} error={form.error} />
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
    <Panel title={t('App')}>
      <Stack gap="md" maw={620}>
        {startAtLogin !== null && (
          <Switch
            label={t('Start at login')}
            description={t('Starts locked, in the tray.')}
            checked={startAtLogin}
            disabled={isPending}
            onChange={(event) => {
              const on = event.currentTarget.checked;
              change(
                { startAtLogin: on },
                on ? t('Keyhearth starts at login') : t('Keyhearth does not start at login'),
              );
            }}
          />
        )}
        {updates !== null && (
          <Switch
            label={t('Check for updates')}
            description={t('Asks before each download. When off, Keyhearth never checks.')}
            checked={updates === 'ask'}
            disabled={isPending}
            onChange={(event) => {
              const on = event.currentTarget.checked;
              change(
                { updates: on ? 'ask' : 'off' },
                on ? t('Keyhearth checks for updates') : t('Keyhearth does not check for updates'),
              );
            }}
          />
        )}
        {desktop !== null && <FreezeShortcut state={desktop.freezeShortcut} />}
        <Failure title={t('Couldn’t change the app’s settings')} error={error} />
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
      {state === 'bound' && t('{{keys}} freezes all signing from any app.', { keys })}
      {state === 'taken' &&
        t('Another app uses {{keys}}. Freeze all signing from the tray or here.', { keys })}
      {state === 'unknown' &&
        t(
          'Assign {{keys}} to Keyhearth in this desktop’s keyboard settings. The shortcut freezes all signing.',
          { keys },
        )}
    </Text>
  );
}

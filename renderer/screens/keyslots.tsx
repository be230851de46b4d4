import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Checkbox, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Link } from 'wouter';
import type { Keyslot, ProveWith } from '../../preload/contract.ts';
import { ShortId } from '../parts/identifier.tsx';
import { KeyslotForm, useNewPassword } from '../parts/keyslot-form.tsx';
import { lastOne, useKeyslots } from '../parts/keyslots.ts';
import { KeychainNote } from '../parts/keychain-note.tsx';
import { DialogButton } from '../parts/manage.tsx';
import { Moment } from '../parts/moment.tsx';
import { Outcomes, PageHead, Panel } from '../parts/page.tsx';
import { recoveryOf, recoveryProblem, toRecovery } from '../parts/phrase.ts';
import { RecoveryField } from '../parts/recovery-field.tsx';
import { Failure, LoadingRows } from '../parts/states.tsx';
import { useTask } from '../parts/task.ts';
import { t, Trans } from '../parts/text.ts';
import { useBridge, useStatus } from '../parts/vault.tsx';
import { Working } from '../parts/working.tsx';
import '../parts/rows.css';

const say = (title: string, message: string): void => {
  notifications.show({ title, message });
};

const seconds = (milliseconds: number) => ({ seconds: String(Math.floor(milliseconds / 1000)), nanos: '0' });

/** What opens the vault: shown, added, changed, removed; and the key behind it all. */
export function Keyslots(): ReactNode {
  const { data, error, isPending, refetch } = useKeyslots();
  return (
    <>
      <PageHead
        title={t('Keys to the vault')}
        lead={t(
          'One master key seals everything in this vault. Each of these holds it, and any one of them opens the vault.',
        )}
      />
      <Panel
        title={t('What opens it')}
        kind="plain"
        aside={
          data !== undefined && (
            <Text size="sm" c="dimmed">
              <Trans
                i18nKey="Vault <shortId/>"
                components={{ shortId: <ShortId text={data.vaultId} copy={t('Copy vault id')} /> }}
              />
            </Text>
          )
        }
      >
        {isPending && <LoadingRows label={t('Loading what opens the vault')} />}
        <Failure
          title={t('What opens the vault could not be read')}
          error={error}
          onRetry={() => void refetch()}
        />
        {data !== undefined && (
          <ul className="lk-rows" aria-label={t('What opens the vault')}>
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

/** Which of several of a kind it is, said also for those who hear the buttons alone. */
interface SlotTexts {
  readonly name: string;
  readonly remove: string;
  /** Of a password; and checks a phrase. */
  readonly change?: string;
}

/** Of the only one of its kind. */
const one: Readonly<Record<Keyslot['kind'], SlotTexts>> = {
  keychain: { name: t('Keychain'), remove: t('Remove the keychain') },
  password: { name: t('Password'), remove: t('Remove the password'), change: t('Change the password') },
  recovery: {
    name: t('Recovery phrase'),
    remove: t('Remove the recovery phrase'),
    change: t('Check the recovery phrase'),
  },
};

/** Of one of several. */
const numbered: Readonly<Record<Keyslot['kind'], (number: number) => SlotTexts>> = {
  keychain: (number) => ({
    name: t('Keychain {{number}}', { number }),
    remove: t('Remove the keychain {{number}}', { number }),
  }),
  password: (number) => ({
    name: t('Password {{number}}', { number }),
    remove: t('Remove the password {{number}}', { number }),
    change: t('Change the password {{number}}', { number }),
  }),
  recovery: (number) => ({
    name: t('Recovery phrase {{number}}', { number }),
    remove: t('Remove the recovery phrase {{number}}', { number }),
    change: t('Check the recovery phrase {{number}}', { number }),
  }),
};

const textsOf = ({ slot, all }: SlotProps): SlotTexts => {
  const alike = all.filter(({ kind }) => kind === slot.kind);
  return alike.length > 1 ? numbered[slot.kind](alike.indexOf(slot) + 1) : one[slot.kind];
};

function Slot({ slot, all }: SlotProps): ReactNode {
  const texts = textsOf({ slot, all });
  const refused = lastOne(all, slot);
  return (
    <li className="lk-row lk-manage">
      <div>
        <span className="lk-row-name">{texts.name}</span>
        <br />
        <span className="lk-row-more">
          <Trans i18nKey="Made <moment/>" components={{ moment: <Moment at={seconds(slot.createdAt)} /> }} />
          {slot.kind === 'recovery' &&
            (slot.confirmedAt === null ? (
              ` · ${t('never checked')}`
            ) : (
              <>
                {' · '}
                <Trans
                  i18nKey="checked <moment/>"
                  components={{ moment: <Moment at={seconds(slot.confirmedAt)} /> }}
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
              title={t('Check the recovery phrase')}
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
            title={t('Change the password')}
          >
            {(close) => <PasswordForm change={slot} onClose={close} />}
          </DialogButton>
        )}
        {refused === undefined && (
          <DialogButton name={t('Remove…')} label={texts.remove} title={one[slot.kind].remove} danger>
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
    <Panel title={t('More ways in')} kind="plain">
      <ul className="lk-rows" aria-label={t('More ways in')}>
        <Way
          name={has('password') ? t('Another password') : t('A password')}
          about={t('For somebody who shares this vault, or for another computer.')}
        >
          <DialogButton name={t('Add a password…')} title={t('Add a password')}>
            {(close) => <PasswordForm onClose={close} />}
          </DialogButton>
        </Way>
        <Way
          name={t('This computer’s keychain')}
          about={
            keychain.available
              ? t(
                  'The vault then opens when you are logged in to this computer. Programs that run as you could ask the keychain too.',
                )
              : undefined
          }
          note={<KeychainNote says={(reason) => t('Not available: {{reason}}', { reason })} />}
        >
          {keychain.available && (
            <DialogButton name={t('Add the keychain…')} title={t('Add this computer’s keychain')}>
              {(close) => <KeychainForm onClose={close} />}
            </DialogButton>
          )}
        </Way>
        <Way
          name={has('recovery') ? t('Another recovery phrase') : t('A recovery phrase')}
          about={t(
            '24 new words, besides what there is. To take old words out of use, replace them instead.',
          )}
        >
          <Button component={Link} href="/keyslots/another/new-phrase" variant="default" size="xs">
            {t('Add a recovery phrase…')}
          </Button>
        </Way>
        <Way
          name={t('A sheet of paper')}
          about={t(
            'The recovery phrase with a QR code and how to restore; or as shares, of which some few open the vault.',
          )}
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
  <li className="lk-row lk-manage">
    <div>
      <span className="lk-row-name">{name}</span>
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
        <Text size="sm" className="lk-prose">
          {t(
            'If somebody may have learned the master key, or what opened an older copy of this vault, draw a new one. Wallets, keys and addresses stay as they are.',
          )}
        </Text>
        <DialogButton name={t('New master key…')} title={t('Draw a new master key')}>
          {(close) => <RotateForm slots={slots} onClose={close} />}
        </DialogButton>
      </Stack>
    </Panel>
  );
}

interface Closing {
  readonly onClose: () => void;
}

/** Adds a password, or changes one. */
function PasswordForm({ change: slot, onClose }: Closing & { readonly change?: Keyslot }): ReactNode {
  const chosen = useNewPassword();
  return (
    <KeyslotForm
      action={slot === undefined ? t('Add the password') : t('Change the password')}
      failed={slot === undefined ? t('The password was not added') : t('The password was not changed')}
      outcomes={
        slot === undefined
          ? [t('The vault opens with the new password, and with all that opens it now.')]
          : [
              t('The vault opens with the new password, and no more with the old one.'),
              t('Older copies and backups of the vault still open with the old one.'),
            ]
      }
      check={chosen.check}
      change={(proof) =>
        slot === undefined
          ? { do: 'addPassword', proof, password: chosen.password }
          : { do: 'changePassword', proof, keyslotId: slot.id, password: chosen.password }
      }
      onDone={() => {
        say(
          slot === undefined ? t('The password is added') : t('The password is changed'),
          t('The vault opens with the new one.'),
        );
        onClose();
      }}
      onCancel={onClose}
    >
      {chosen.fields}
    </KeyslotForm>
  );
}

function KeychainForm({ onClose }: Closing): ReactNode {
  return (
    <KeyslotForm
      action={t('Add the keychain')}
      failed={t('The keychain was not added')}
      outcomes={[
        t('The keychain of this computer keeps a new key, with which the vault opens here and nowhere else.'),
      ]}
      change={(proof) => ({ do: 'addKeychain', proof })}
      onDone={() => {
        say(t('The keychain is added'), t('The vault opens with this computer’s keychain too.'));
        onClose();
      }}
      onCancel={onClose}
    />
  );
}

const removing = {
  keychain: {
    failed: t('The keychain was not removed'),
    outcome: t('The vault opens no more with this keychain.'),
    done: t('The keychain is removed'),
  },
  password: {
    failed: t('The password was not removed'),
    outcome: t('The vault opens no more with this password.'),
    done: t('The password is removed'),
  },
  recovery: {
    failed: t('The recovery phrase was not removed'),
    outcome: t('The vault opens no more with this recovery phrase.'),
    done: t('The recovery phrase is removed'),
  },
} as const;

function RemoveForm({ slot, onClose }: Closing & { readonly slot: Keyslot }): ReactNode {
  const texts = removing[slot.kind];
  return (
    <KeyslotForm
      action={one[slot.kind].remove}
      failed={texts.failed}
      danger
      outcomes={[texts.outcome, t('Older copies and backups of the vault open with what opened them then.')]}
      change={(proof) => ({ do: 'remove', proof, keyslotId: slot.id })}
      onDone={() => {
        say(texts.done, t('It opens this vault no more.'));
        onClose();
      }}
      onCancel={onClose}
    />
  );
}

/** Says right or wrong, and shows nothing. */
function CheckForm({ onClose }: Closing): ReactNode {
  const bridge = useBridge();
  const task = useTask();
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [right, setRight] = useState(false);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const recovery = recoveryOf(typed);
    const lack = recoveryProblem(recovery);
    setProblem(lack);
    setRight(false);
    if (lack !== null) return;
    task.run(async () => {
      await bridge.checkRecovery(toRecovery(recovery));
      setTyped('');
      setRight(true);
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <RecoveryField typed={typed} problem={problem} onType={setTyped} onEnter={submit} />
        <Text role="status" fw={600}>
          {right && t('Right: this opens the vault. Put the paper back where it was.')}
        </Text>
        <Failure title={t('This does not open the vault')} error={task.error} />
        <Group gap="sm">
          <Button type="submit" loading={task.isPending}>
            {t('Check')}
          </Button>
          <Button variant="subtle" color="gray" onClick={onClose}>
            {right ? t('Done') : t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface RotateProps extends Closing {
  readonly slots: readonly Keyslot[];
}

function RotateForm({ slots, onClose }: RotateProps): ReactNode {
  const bridge = useBridge();
  const task = useTask();
  const asked = slots.filter(({ kind }) => kind !== 'keychain');
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(new Map());
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [dropOthers, setDropOthers] = useState(false);
  const textOf = ({ id }: Keyslot): string => typed.get(id) ?? '';
  const isEmpty = (slot: Keyslot): boolean => textOf(slot).trim() === '';
  const left = asked.filter(isEmpty);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const found = new Map<string, string>();
    for (const slot of asked) {
      const lack = isEmpty(slot)
        ? whyNotEmpty()
        : slot.kind === 'recovery'
          ? recoveryProblem(recoveryOf(textOf(slot)))
          : null;
      if (lack !== null) found.set(slot.id, lack);
    }
    setProblems(found);
    const [proof, ...secrets] = asked.filter((slot) => !isEmpty(slot)).map(secretOf);
    if (found.size > 0 || proof === undefined) return;
    task.run(async () => {
      await bridge.changeKeyslots({ do: 'rotate', proof, secrets, dropOthers });
      say(t('The vault has a new master key'), t('What opens it holds the new one.'));
      onClose();
    });
  };
  const whyNotEmpty = (): string | null => {
    if (left.length === asked.length) return t('Type at least one of them.');
    return dropOthers ? null : t('Type it, or say below that it may go.');
  };
  const secretOf = (slot: Keyslot): ProveWith =>
    slot.kind === 'recovery'
      ? toRecovery(recoveryOf(textOf(slot)))
      : { with: 'password', password: textOf(slot) };
  const field = (slot: Keyslot) => {
    const { name: label } = textsOf({ slot, all: slots });
    const problem = problems.get(slot.id) ?? null;
    const type = (text: string): void => {
      setTyped(new Map(typed).set(slot.id, text));
    };
    return slot.kind === 'recovery' ? (
      <RecoveryField
        key={slot.id}
        label={label}
        typed={textOf(slot)}
        problem={problem}
        onType={type}
        onEnter={submit}
        required={false}
      />
    ) : (
      <PasswordInput
        key={slot.id}
        label={label}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': t('Show {{name}}', { name: label }), tabIndex: 0 }}
        value={textOf(slot)}
        error={problem}
        onChange={(event) => {
          type(event.currentTarget.value);
        }}
      />
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {t('What you type here holds the new key afterwards.')}
        </Text>
        {asked.map(field)}
        {slots.length > 1 && (
          <Checkbox
            label={t('What I leave empty may go: it opens the vault no more')}
            checked={dropOthers}
            onChange={(event) => {
              setDropOthers(event.currentTarget.checked);
            }}
          />
        )}
        <Outcomes
          items={[
            t(
              'A new master key is drawn, and everything that is sealed goes over to it, all at once or not at all.',
            ),
            ...(slots.length > asked.length
              ? [
                  t(
                    'This computer’s keychain gets another key. The keychain of another computer counts as left empty.',
                  ),
                ]
              : []),
            t(
              'Older copies and backups of the vault open with what opened them then: make a new backup afterwards.',
            ),
          ]}
        />
        <Working busy={task.isPending}>{t('Everything that is sealed goes over to the new key')}</Working>
        <Failure title={t('The master key was not changed')} error={task.error} />
        <Group gap="sm">
          <Button type="submit" loading={task.isPending}>
            {t('Draw a new master key')}
          </Button>
          <Button variant="subtle" color="gray" onClick={onClose}>
            {t('Cancel')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Actions on the ways to open the vault, each in a dialog of its own. */

import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Checkbox, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Keyslot, ProveWith } from '../../../preload/contract.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { KeyslotForm, useNewPassword } from './keyslot-form.tsx';
import { textsOf, textsOfOne } from './keyslot-texts.ts';
import { Expectations } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { recoveryOf, recoveryProblem, toRecovery } from './phrase.ts';
import { RecoveryField } from './recovery-field.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useRpc } from '../../app/rpc/vault.tsx';
import { Busy } from '../../ui/busy.tsx';
import { onText } from '../../ui/on-text.ts';

const say = (title: string, message: string): void => {
  notifications.show({ title, message });
};

interface Closing {
  readonly onClose: () => void;
}

/** Adds a password, or changes one. */
export function PasswordForm({ change: slot, onClose }: Closing & { readonly change?: Keyslot }): ReactNode {
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

export function KeychainForm({ onClose }: Closing): ReactNode {
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

export function RemoveForm({ slot, onClose }: Closing & { readonly slot: Keyslot }): ReactNode {
  const texts = removing[slot.kind];
  return (
    <KeyslotForm
      action={textsOfOne[slot.kind].remove}
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
export function CheckForm({ onClose }: Closing): ReactNode {
  const rpc = useRpc();
  const task = useAsyncAction();
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
      await rpc.checkRecovery(toRecovery(recovery));
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
        <FormEnd
          failed={t('This does not open the vault')}
          error={task.error}
          busy={task.isPending}
          does={t('Check')}
          back={onClose}
          done={right ? t('Done') : undefined}
        />
      </Stack>
    </form>
  );
}

interface RotateProps extends Closing {
  readonly slots: readonly Keyslot[];
}

export function RotateForm({ slots, onClose }: RotateProps): ReactNode {
  const rpc = useRpc();
  const task = useAsyncAction();
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
      await rpc.changeKeyslots({ do: 'rotate', proof, secrets, dropOthers });
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
    const { name: label } = textsOf(slot, slots);
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
      <PasswordField
        key={slot.id}
        label={label}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': t('Show {{name}}', { name: label }), tabIndex: 0 }}
        value={textOf(slot)}
        error={problem}
        onChange={onText(type)}
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
        <Expectations
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
        <Busy busy={task.isPending}>{t('Everything that is sealed goes over to the new key')}</Busy>
        <FormEnd
          failed={t('The master key was not changed')}
          error={task.error}
          busy={task.isPending}
          does={t('Draw a new master key')}
          back={onClose}
        />
      </Stack>
    </form>
  );
}

/** Actions on the ways to open the vault, each in a dialog of its own. */

import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Checkbox, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { Keyslot, ProveWith } from '../../../preload/contract.ts';
import { FormEnd } from '../../ui/form-end.tsx';
import { KeyslotForm, useNewPassword } from './keyslot-form.tsx';
import { checkFailed, textsOf, textsOfOne } from './keyslot-texts.ts';
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
      action={slot === undefined ? t('Add password') : t('Change password')}
      failed={slot === undefined ? t('Couldn’t add the password') : t('Couldn’t change the password')}
      outcomes={
        slot === undefined
          ? [t('The vault also opens with the new password.')]
          : [
              t('The old password stops working.'),
              t('Older backups and copies still open with the old password.'),
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
          slot === undefined ? t('Password added') : t('Password changed'),
          t('The vault opens with the new password.'),
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
      action={t('Add keychain')}
      failed={t('Couldn’t add the keychain')}
      outcomes={[t('This computer’s keychain keeps a key that works only here.')]}
      change={(proof) => ({ do: 'addKeychain', proof })}
      onDone={() => {
        say(t('Keychain added'), t('The vault also opens with this computer’s keychain.'));
        onClose();
      }}
      onCancel={onClose}
    />
  );
}

const removing = {
  keychain: {
    failed: t('Couldn’t remove the keychain'),
    outcome: t('This keychain will stop working.'),
    done: t('Keychain removed'),
  },
  password: {
    failed: t('Couldn’t remove the password'),
    outcome: t('This password will stop working.'),
    done: t('Password removed'),
  },
  recovery: {
    failed: t('Couldn’t remove the recovery phrase'),
    outcome: t('This recovery phrase will stop working.'),
    done: t('Recovery phrase removed'),
  },
} as const;

export function RemoveForm({ slot, onClose }: Closing & { readonly slot: Keyslot }): ReactNode {
  const texts = removing[slot.kind];
  return (
    <KeyslotForm
      action={textsOfOne[slot.kind].remove}
      failed={texts.failed}
      danger
      outcomes={[texts.outcome, t('Older backups and copies keep their unlock methods.')]}
      change={(proof) => ({ do: 'remove', proof, keyslotId: slot.id })}
      onDone={() => {
        say(texts.done, t('This unlock method stopped working.'));
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
          {right && t('Correct: this phrase opens the vault.')}
        </Text>
        <FormEnd
          failed={checkFailed(task.error)}
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
      say(t('Master key replaced'), t('The unlock methods that you kept work as before.'));
      onClose();
    });
  };
  const whyNotEmpty = (): string | null => {
    if (left.length === asked.length) return t('Enter at least one secret.');
    return dropOthers ? null : t('Enter this secret, or allow its removal below.');
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
          {t('The unlock methods that you enter here keep working.')}
        </Text>
        {asked.map(field)}
        {slots.length > 1 && (
          <Checkbox
            label={t('Remove the unlock methods that I leave blank')}
            checked={dropOthers}
            onChange={(event) => {
              setDropOthers(event.currentTarget.checked);
            }}
          />
        )}
        <Expectations
          items={[
            t('Everything in the vault is encrypted with a new master key.'),
            ...(slots.length > asked.length ? [t('Only this computer’s keychain is kept.')] : []),
            t('Older backups keep their unlock methods: back up again.'),
          ]}
        />
        <Busy busy={task.isPending}>{t('Encrypting everything with the new key')}</Busy>
        <FormEnd
          failed={t('Couldn’t replace the master key')}
          error={task.error}
          busy={task.isPending}
          does={t('Replace the master key')}
          back={onClose}
        />
      </Stack>
    </form>
  );
}

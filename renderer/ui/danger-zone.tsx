import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { visibleName } from '../../main/lib/text/visible-text.ts';
import { Dialog } from './dialog/dialog.tsx';
import { FormEnd } from './form-end.tsx';
import { NameField } from './name-field.tsx';
import { nameProblem } from './text/names.ts';
import { Expectations, Panel } from './page.tsx';
import { t } from '../app/i18n/text.ts';
import './rows.css';

/** Actions on a resource as a whole, at the end of its page. */
export function DangerZone({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <Panel title={t('Manage')} kind="plain">
      <ul className="kh-rows" aria-label={t('Manage')}>
        {children}
      </ul>
    </Panel>
  );
}

interface ActionProps {
  readonly name: string;
  readonly about: ReactNode;
  /** The title of its dialog. */
  readonly title: string;
  readonly danger?: boolean;
  readonly wide?: boolean;
  /** Why it cannot be done, instead of the button. */
  readonly refused?: string | undefined;
  /** The content of the dialog; it unmounts when the dialog closes. */
  readonly children: (close: () => void) => ReactNode;
}

export function DangerAction({
  name,
  about,
  title,
  danger = false,
  wide = false,
  refused,
  children,
}: ActionProps): ReactNode {
  return (
    <li className="kh-row kh-manage">
      <div>
        <span className="kh-row-name">{name}</span>
        <Text size="sm" c="dimmed">
          {refused ?? about}
        </Text>
      </div>
      {refused === undefined && (
        <DialogButton name={`${name}…`} title={title} danger={danger} wide={wide}>
          {children}
        </DialogButton>
      )}
    </li>
  );
}

interface DialogButtonProps {
  readonly name: string;
  /** For a button whose text alone does not say what it is about. */
  readonly label?: string;
  readonly title: string;
  readonly danger?: boolean;
  readonly wide?: boolean;
  readonly children: (close: () => void) => ReactNode;
}

/** A button and the dialog that it opens. */
export function DialogButton({
  name,
  label,
  title,
  danger = false,
  wide = false,
  children,
}: DialogButtonProps): ReactNode {
  const [opened, setOpened] = useState(false);
  const close = () => {
    setOpened(false);
  };
  return (
    <>
      <Button
        variant="default"
        size="xs"
        flex="none"
        aria-label={label}
        aria-haspopup="dialog"
        className={danger ? 'kh-danger-button' : undefined}
        onClick={() => {
          setOpened(true);
        }}
      >
        {name}
      </Button>
      <Dialog opened={opened} onClose={close} title={title} size={wide ? 'xl' : 'lg'}>
        {children(close)}
      </Dialog>
    </>
  );
}

/** The state of the submit behind a form in a dialog. */
interface Submitting {
  readonly isPending: boolean;
  readonly error: Error | null;
}

interface RenameProps {
  readonly what: keyof typeof notRenamed;
  readonly name: string;
  /** The other names of its kind. */
  readonly taken: readonly string[];
  readonly submitting: Submitting;
  readonly onRename: (name: string) => void;
  readonly onCancel: () => void;
}

const notRenamed = {
  tag: t('Couldn’t rename the tag'),
  wallet: t('Couldn’t rename the wallet'),
} as const;

export function RenameForm({ what, name, taken, submitting, onRename, onCancel }: RenameProps): ReactNode {
  const [typed, setTyped] = useState(name);
  const [tried, setTried] = useState(false);
  const others = taken.filter((each) => each !== name);
  const problem = nameProblem(typed, others);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem !== null) return;
    if (typed.trim() === name) onCancel();
    else onRename(typed.trim());
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <NameField
          value={typed}
          problem={tried || typed !== name ? problem : null}
          others={others}
          onType={setTyped}
          first
        />
        <FormEnd
          failed={notRenamed[what]}
          error={submitting.error}
          busy={submitting.isPending}
          does={t('Rename')}
          back={onCancel}
        />
      </Stack>
    </form>
  );
}

interface ConfirmProps {
  /** The words of its button: `End the session`. */
  readonly does: string;
  readonly failed: string;
  readonly outcomes: readonly ReactNode[];
  /** Said loudly, where something would be lost for good. */
  readonly loss?: { readonly title: string; readonly text: string } | undefined;
  /** The text that must be typed first. */
  readonly confirm?: { readonly text: string; readonly as: keyof typeof confirming };
  readonly submitting: Submitting;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** The label of a text that must be typed, and the error where it differs. */
const confirming = {
  name: {
    ask: t('Type the name to confirm'),
    wrong: (text: string) => t('The name doesn’t match. Type: {{text}}', { text }),
  },
  userName: {
    ask: t('Type the name to confirm'),
    wrong: (text: string) => t('The name doesn’t match. Type: {{text}}', { text }),
  },
  addressEnding: {
    ask: t('Type the last six characters of the address'),
    wrong: (text: string) => t('The characters don’t match. Type: {{text}}', { text }),
  },
} as const;

/** The screen shows white space in a row as one space. */
const asRead = (name: string): string => visibleName(name.trim()).replaceAll(/\s+/g, ' ');

/** The confirmation of what cannot be undone: what will happen, what is lost, and the name to type where much is lost. */
export function ConfirmForm({
  does,
  failed,
  outcomes,
  loss,
  confirm,
  submitting,
  onConfirm,
  onCancel,
}: ConfirmProps): ReactNode {
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (confirm === undefined || asRead(typed) === asRead(confirm.text)) onConfirm();
    else setProblem(confirming[confirm.as].wrong(confirm.text));
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        {loss !== undefined && (
          <Alert
            color="red"
            variant="light"
            title={loss.title}
            icon={<IconAlertTriangle aria-hidden />}
            className="kh-failure"
            // It is there from the start and read with the dialog: nothing that happened meanwhile.
            role="note"
          >
            {loss.text}
          </Alert>
        )}
        <Expectations items={outcomes} />
        {confirm !== undefined && (
          <TextInput
            label={confirming[confirm.as].ask}
            description={visibleName(confirm.text)}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            data-repeats
            required
            value={typed}
            error={problem}
            data-autofocus
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              setProblem(null);
            }}
          />
        )}
        <FormEnd
          failed={failed}
          error={submitting.error}
          busy={submitting.isPending}
          does={does}
          danger
          back={onCancel}
        />
      </Stack>
    </form>
  );
}

interface DeleteProps extends Omit<ConfirmProps, 'does' | 'failed' | 'onConfirm'> {
  readonly what: keyof typeof deleting;
  readonly onDelete: () => void;
}

/** The button that deletes it, and what did not happen where that is refused. */
const deleting = {
  account: [t('Delete account'), t('Couldn’t delete the account')],
  apiKey: [t('Delete API key'), t('Couldn’t delete the API key')],
  endpoint: [t('Delete endpoint'), t('Couldn’t delete the endpoint')],
  interface: [t('Delete interface'), t('Couldn’t delete the interface')],
  name: [t('Delete name'), t('Couldn’t delete the name')],
  key: [t('Delete key'), t('Couldn’t delete the key')],
  organization: [t('Delete organization'), t('Couldn’t delete the organization')],
  passkey: [t('Delete passkey'), t('Couldn’t delete the passkey')],
  policy: [t('Delete policy'), t('Couldn’t delete the policy')],
  secret: [t('Delete secret'), t('Couldn’t delete the secret')],
  tag: [t('Delete tag'), t('Couldn’t delete the tag')],
  user: [t('Delete user'), t('Couldn’t delete the user')],
  wallet: [t('Delete wallet'), t('Couldn’t delete the wallet')],
} as const;

export const DeleteForm = ({ what, onDelete, ...rest }: DeleteProps): ReactNode => {
  const [does, failed] = deleting[what];
  return <ConfirmForm does={does} failed={failed} onConfirm={onDelete} {...rest} />;
};

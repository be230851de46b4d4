import { useState } from 'react';
import type { ReactNode } from 'react';
import { Anchor, Stack, Switch, Text, TextInput } from '@mantine/core';
import { onText } from '../../ui/on-text.ts';
import { useMutation } from '@tanstack/react-query';
import type { CreateVault, KeyslotKind, VaultStatus } from '../../../preload/contract.ts';
import { emailProblem } from '../users/contact.ts';
import { KeychainNote } from '../keyslots/keychain-note.tsx';
import { longestName } from '../../ui/text/names.ts';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { Expectations } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { passwordStrength, shortestPassword } from '../keyslots/password.ts';
import { wordsOf } from '../keyslots/phrase.ts';
import { SheetMaker } from '../keyslots/recovery-sheet.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { StepFrame } from './step-frame.tsx';
import { StrengthMeter } from '../keyslots/strength-meter.tsx';
import { anyOf, t, Trans } from '../../app/i18n/text.ts';
import { Steps, AuthLayout } from '../../ui/auth-layout.tsx';
import { useRpc, useStatus, useStatusCall } from '../../app/rpc/vault.tsx';
import { CheckStep, PhraseStep } from './first-run-phrase.tsx';
import { RestoreStep } from './first-run-restore.tsx';

const steps = [
  t('Welcome'),
  t('Names'),
  t('How it opens'),
  t('Recovery phrase'),
  t('Check the words'),
  t('Done'),
] as const;

interface Names {
  readonly organizationName: string;
  readonly userName: string;
  readonly userEmail: string;
}

interface Opening {
  readonly useKeychain: boolean;
  readonly password: string;
}

interface Props {
  /** Called when this window begins to create the vault, when that fails, and when the owner is done here. */
  readonly onCreating: (creating: boolean) => void;
}

/** From nothing to a vault: names, what opens it, the recovery phrase written down and checked. */
export function FirstRun({ onCreating }: Props): ReactNode {
  const rpc = useRpc();
  const status = useStatus();
  const [step, setStep] = useState(0);
  const [restores, setRestores] = useState(false);
  const [names, setNames] = useState<Names>({
    organizationName: t('Personal'),
    userName: t('Owner'),
    userEmail: '',
  });
  const [opening, setOpening] = useState<Opening>({ useKeychain: status.keychain.available, password: '' });
  const [words, setWords] = useState<readonly string[]>([]);
  const draw = useMutation({ mutationFn: () => rpc.newRecoveryPhrase() });
  const create = useStatusCall((to, vault: CreateVault) => to.create(vault));

  const drawWords = () => {
    draw.mutate(undefined, {
      onSuccess({ phrase }) {
        setWords(wordsOf(phrase));
        setStep(3);
      },
    });
  };
  const toCheck = () => {
    create.reset();
    setStep(4);
  };
  const back = () => {
    setStep(step - 1);
  };

  const makeVault = (confirmedWords: CreateVault['confirmedWords']) => {
    onCreating(true);
    create.mutate(
      {
        organizationName: names.organizationName.trim(),
        userName: names.userName.trim(),
        ...(names.userEmail.trim() === '' ? {} : { userEmail: names.userEmail.trim() }),
        useKeychain: opening.useKeychain,
        ...(opening.password === '' ? {} : { password: opening.password }),
        confirmedWords,
      },
      {
        onSuccess() {
          // It is not needed again; the words may yet be printed.
          setOpening({ ...opening, password: '' });
          setStep(5);
        },
        onError() {
          onCreating(false);
        },
      },
    );
  };

  if (restores) {
    return (
      <AuthLayout
        latch="shut"
        aside={
          <p>
            <strong>{t('A vault that was.')}</strong> {t('It comes back as it was when its backup was made.')}
          </p>
        }
      >
        <RestoreStep
          onRestoring={onCreating}
          onBack={() => {
            setRestores(false);
          }}
        />
      </AuthLayout>
    );
  }
  return (
    <AuthLayout latch={step === 5 ? 'open' : 'shut'} aside={<Steps steps={steps} current={step} />}>
      {step === 0 && (
        <Welcome
          onNext={() => {
            setStep(1);
          }}
          onRestore={() => {
            setRestores(true);
          }}
        />
      )}
      {step === 1 && (
        <NamesStep
          names={names}
          onBack={back}
          onNext={(given) => {
            setNames(given);
            setStep(2);
          }}
        />
      )}
      {step === 2 && (
        <OpeningStep
          opening={opening}
          busy={draw.isPending}
          error={draw.error}
          onBack={back}
          onNext={(given) => {
            setOpening(given);
            // Words that were written down already stay the same when one goes back and forth.
            if (words.length === 0) drawWords();
            else setStep(3);
          }}
        />
      )}
      {step === 3 && (
        <PhraseStep
          words={words}
          vaultName={names.organizationName}
          busy={draw.isPending}
          onBack={back}
          onDraw={drawWords}
          onNext={toCheck}
        />
      )}
      {step === 4 && (
        <CheckStep
          words={words}
          opening={opening}
          busy={create.isPending}
          error={create.error}
          onBack={back}
          onNext={makeVault}
        />
      )}
      {step === 5 && create.data !== undefined && (
        <Done
          made={create.data}
          phrase={words.join(' ')}
          onNext={() => {
            setWords([]);
            onCreating(false);
          }}
        />
      )}
    </AuthLayout>
  );
}

interface WelcomeProps {
  readonly onNext: () => void;
  readonly onRestore: () => void;
}

function Welcome({ onNext, onRestore }: WelcomeProps): ReactNode {
  const { directory } = useStatus();
  return (
    <StepFrame title={t('A vault for your keys')} next={t('Set up my vault')} onNext={onNext}>
      <p className="kh-prose">
        {t(
          'Keyhearth keeps wallets and private keys sealed on this computer and signs with them when you, or a script you allow, ask it to. Keys never leave the vault unless you export them, and nothing is sent anywhere that you did not set up.',
        )}
      </p>
      <Expectations
        title={t('What the next few minutes bring')}
        items={[
          t('You name the vault and choose what opens it.'),
          t('You write down 24 words on paper. They are the one way back in when everything else is lost.'),
          directory === null ? (
            t('The vault is made, in memory only: it is gone when Keyhearth stops.')
          ) : (
            <>
              <Trans
                i18nKey="The vault is made in <span>{{directory}}</span>. Until the last step nothing you type is written."
                values={{ directory }}
                components={{ span: <span className="kh-mono" /> }}
              />
            </>
          ),
        ]}
      />
      <Text size="sm" c="dimmed" mt="md">
        {t('Have a pen and paper at hand, and nobody looking over your shoulder.')}
      </Text>
      {directory !== null && (
        <Text size="sm" mt="md">
          <Trans
            i18nKey="Had a vault before? <restore>Restore it from a backup</restore>."
            components={{
              restore: <Anchor component="button" type="button" size="sm" inherit onClick={onRestore} />,
            }}
          />
        </Text>
      )}
    </StepFrame>
  );
}

interface NamesProps {
  readonly names: Names;
  readonly onBack: () => void;
  readonly onNext: (names: Names) => void;
}

function NamesStep({ names, onBack, onNext }: NamesProps): ReactNode {
  const [typed, setTyped] = useState(names);
  const [tried, setTried] = useState(false);
  const problems = {
    organizationName: typed.organizationName.trim() === '' ? t('Give the vault a name.') : null,
    userName: typed.userName.trim() === '' ? t('Give yourself a name.') : null,
    userEmail: emailProblem(typed.userEmail),
  };
  const field = (name: keyof Names) => ({
    value: typed[name],
    error: tried && problems[name],
    onChange: onText((text) => {
      setTyped({ ...typed, [name]: text });
    }),
  });
  const next = () => {
    setTried(true);
    if (Object.values(problems).every((problem) => problem === null)) onNext(typed);
  };
  return (
    <StepFrame title={t('Names')} next={t('Continue')} onBack={onBack} onNext={next}>
      <p className="kh-prose">
        {t(
          'Both names appear in the activity log and in what scripts see. The defaults are fine if you have one vault.',
        )}
      </p>
      <Stack gap="md">
        <TextInput
          label={t('Vault')}
          description={t('The API calls it the organization: everything in this vault belongs to it.')}
          autoComplete="off"
          maxLength={longestName}
          required
          {...field('organizationName')}
        />
        <TextInput
          label={t('You')}
          description={t('The first user, who may do everything.')}
          autoComplete="off"
          maxLength={longestName}
          required
          {...field('userName')}
        />
        <TextInput
          label={t('Email (optional)')}
          description={t(
            'Kept in the vault as part of your user. Nothing is sent to it unless you set up mail.',
          )}
          type="email"
          autoComplete="off"
          {...field('userEmail')}
        />
      </Stack>
    </StepFrame>
  );
}

interface OpeningProps {
  readonly opening: Opening;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onBack: () => void;
  readonly onNext: (opening: Opening) => void;
}

function passwordProblem(password: string, useKeychain: boolean): string | null {
  if (password === '') {
    return useKeychain ? null : t('Choose a password: without the keychain it is what opens the vault.');
  }
  return password.length < shortestPassword
    ? t('Too short. {{hint}}', { hint: passwordStrength(password).hint })
    : null;
}

function OpeningStep({ opening, busy, error, onBack, onNext }: OpeningProps): ReactNode {
  const { keychain } = useStatus();
  const [useKeychain, setUseKeychain] = useState(opening.useKeychain);
  const [password, setPassword] = useState(opening.password);
  const [repeated, setRepeated] = useState(opening.password);
  const [tried, setTried] = useState(false);
  const problem = tried ? passwordProblem(password, useKeychain) : null;
  const differs =
    password === '' || password === repeated ? null : t('The two passwords differ. Type the same one twice.');
  const next = () => {
    setTried(true);
    if (passwordProblem(password, useKeychain) === null && differs === null) {
      onNext({ useKeychain, password });
    }
  };
  return (
    <StepFrame
      title={t('How the vault opens')}
      next={t('Continue')}
      busy={busy}
      onBack={onBack}
      onNext={next}
    >
      <p className="kh-prose">
        {t(
          'The vault’s keys are sealed with one master key. Choose what may unseal it day to day; the recovery phrase of the next step always can.',
        )}
      </p>
      <Stack gap="lg">
        <Switch
          label={t('Open with this computer’s keychain')}
          description={
            keychain.available
              ? t(
                  'The vault opens when you are logged in to this computer. Programs that run as you could ask the keychain too.',
                )
              : undefined
          }
          disabled={!keychain.available}
          checked={useKeychain}
          onChange={({ currentTarget }) => {
            setUseKeychain(currentTarget.checked);
          }}
        />
        <KeychainNote
          says={(reason) => t('Not available: {{reason}}', { reason })}
          onFound={() => {
            setUseKeychain(true);
          }}
        />
        <div>
          <PasswordField
            label={useKeychain ? t('Password (optional)') : t('Password')}
            description={
              useKeychain
                ? t('A second way in, for when the keychain is not at hand. You can leave it empty.')
                : t('Asked for each time the vault opens.')
            }
            autoComplete="new-password"
            required={!useKeychain}
            visibilityToggleButtonProps={{ 'aria-label': t('Show password'), tabIndex: 0 }}
            value={password}
            error={problem}
            onChange={onText(setPassword)}
          />
          {/* The field already shows the problem. */}
          {problem === null && <StrengthMeter password={password} />}
        </div>
        {(password !== '' || !useKeychain) && (
          <PasswordField
            label={t('The same password again')}
            autoComplete="new-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': t('Show repeated password'), tabIndex: 0 }}
            value={repeated}
            error={tried && differs}
            onChange={onText(setRepeated)}
          />
        )}
        <Failure title={t('The recovery phrase could not be drawn')} error={error} />
      </Stack>
    </StepFrame>
  );
}

const slotNames: Readonly<Record<KeyslotKind, string>> = {
  keychain: t('this computer’s keychain'),
  password: t('your password'),
  recovery: t('the recovery phrase'),
};

interface DoneProps {
  readonly made: VaultStatus;
  readonly phrase: string;
  readonly onNext: () => void;
}

function Done({ made, phrase, onNext }: DoneProps): ReactNode {
  const name = made.organization?.name ?? '';
  return (
    <StepFrame title={t('Your vault is ready')} next={t('Open the vault')} onNext={onNext}>
      <p className="kh-prose">{t('Nothing left this computer. This is what was done:')}</p>
      <Expectations
        title={t('What happened')}
        done
        items={[
          made.directory === null ? (
            t('The vault “{{name}}” was made in memory, and it is open now.', { name })
          ) : (
            <Trans
              i18nKey="The vault “{{name}}” was made in <mono>{{directory}}</mono>, and it is open now."
              values={{ name, directory: made.directory }}
              components={{ mono: <span className="kh-mono" /> }}
            />
          ),
          t('It opens with {{keyslots}}.', { keyslots: anyOf(made.keyslots.map((slot) => slotNames[slot])) }),
          <>
            <Trans
              i18nKey="Scripts on this computer reach it at <span>{{url}}</span>, once you give them a key under Connect."
              values={{ url: made.url }}
              components={{ span: <span className="kh-mono" /> }}
            />
          </>,
        ]}
      />
      <Stack gap="xs" mt="md" align="start">
        <Text size="sm">
          {t(
            'Besides what you wrote down, you can print the words with a QR code and how to restore; or shares of them, of which some few open the vault.',
          )}
        </Text>
        <DialogButton name={t('Print a recovery sheet…')} title={t('Recovery sheet')} wide>
          {() => <SheetMaker phrase={phrase} />}
        </DialogButton>
      </Stack>
      <Text size="sm" c="dimmed" mt="md">
        {t('Put the paper with the 24 words away before you go on.')}
      </Text>
    </StepFrame>
  );
}

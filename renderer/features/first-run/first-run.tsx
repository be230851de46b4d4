import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Anchor, Stack, Switch, Text, TextInput } from '@mantine/core';
import { onText } from '../../ui/on-text.ts';
import { useMutation } from '@tanstack/react-query';
import type { CreateVault } from '../../../preload/contract.ts';
import { emailProblem } from '../users/contact.ts';
import { KeychainNote } from '../keyslots/keychain-note.tsx';
import { longestName } from '../../ui/text/names.ts';
import { Expectations } from '../../ui/page.tsx';
import { PasswordField } from '../../ui/password-field.tsx';
import { refusalOf } from '../keyslots/password.ts';
import { wordsOf } from '../keyslots/phrase.ts';
import { Failure } from '../../ui/feedback.tsx';
import { StepFrame } from './step-frame.tsx';
import { StrengthMeter } from '../keyslots/strength-meter.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { Steps, AuthLayout } from '../../ui/auth-layout.tsx';
import { useRpc, useStatus, useStatusCall } from '../../app/rpc/vault.tsx';
import { later } from '../../app/later.tsx';

const PhraseStep = later(async () => (await import('./first-run-phrase.tsx')).PhraseStep);
const CheckStep = later(async () => (await import('./first-run-phrase.tsx')).CheckStep);
const Done = later(async () => (await import('./first-run-done.tsx')).Done);
const RestoreStep = later(async () => (await import('./first-run-restore.tsx')).RestoreStep);

const steps = [
  t('Welcome'),
  t('Names'),
  t('Unlock methods'),
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
  const generate = useMutation({ mutationFn: () => rpc.newRecoveryPhrase() });
  const create = useStatusCall((to, vault: CreateVault) => to.create(vault));

  // The last step has the words, which must not stay in sight of a lock.
  const isLocked = step === 5 && status.state === 'locked';
  useEffect(() => {
    if (isLocked) onCreating(false);
  }, [isLocked, onCreating]);

  const generateWords = () => {
    generate.mutate(undefined, {
      onSuccess({ phrase }) {
        setWords(wordsOf(phrase));
        setStep(3);
      },
      onError() {
        // The service may have others by now, and accepts only its last.
        setWords([]);
        setStep(2);
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
            <strong>{t('Restoring a vault.')}</strong>{' '}
            {t('The vault returns as it was at the time of the backup.')}
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
          known={[names.organizationName, names.userName, names.userEmail]}
          busy={generate.isPending}
          error={generate.error}
          onBack={back}
          onNext={(given) => {
            setOpening(given);
            // Words that were written down already stay the same when one goes back and forth.
            if (words.length === 0) generateWords();
            else setStep(3);
          }}
        />
      )}
      {step === 3 && (
        <PhraseStep
          words={words}
          vaultName={names.organizationName}
          busy={generate.isPending}
          onBack={back}
          onGenerate={generateWords}
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
    <StepFrame title={t('A vault for your keys')} next={t('Set up a vault')} onNext={onNext}>
      <p className="kh-prose">
        {t(
          'Keyhearth seals your wallets and private keys on this computer, and signs when you or an allowed script asks.',
        )}
      </p>
      <Expectations
        title={t('What to expect')}
        items={[
          t('You name the vault and choose how it opens.'),
          t('You write 24 words on paper, for emergencies.'),
          directory === null ? (
            t('The vault is in memory, and gone when Keyhearth stops.')
          ) : (
            <>
              <Trans
                i18nKey="Nothing is saved until the last step, in <span>{{directory}}</span>."
                values={{ directory }}
                components={{ span: <span className="kh-mono" /> }}
              />
            </>
          ),
        ]}
      />
      <Text size="sm" c="dimmed" mt="md">
        {t('Have pen and paper ready, in private.')}
      </Text>
      {directory !== null && (
        <Text size="sm" mt="md">
          <Trans
            i18nKey="Do you have a backup? <restore>Restore a vault</restore>"
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
    organizationName: typed.organizationName.trim() === '' ? t('Enter a name for the vault.') : null,
    userName: typed.userName.trim() === '' ? t('Enter your name.') : null,
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
      <p className="kh-prose">{t('The log and scripts show both names. You can change them later.')}</p>
      <Stack gap="md">
        <TextInput
          label={t('Vault name')}
          description={t('The API calls the vault an organization.')}
          autoComplete="off"
          maxLength={longestName}
          required
          {...field('organizationName')}
        />
        <TextInput
          label={t('Your name')}
          description={t('The first user, with full access.')}
          autoComplete="off"
          maxLength={longestName}
          required
          {...field('userName')}
        />
        <TextInput
          label={t('Email (optional)')}
          description={t('Used only if you set up email.')}
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
  /** Words of this vault, which a password should not be made of. */
  readonly known: readonly string[];
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onBack: () => void;
  readonly onNext: (opening: Opening) => void;
}

function passwordProblem(password: string, useKeychain: boolean): string | null {
  if (password === '') {
    return useKeychain ? null : t('Choose a password: without the keychain, the vault needs one.');
  }
  return refusalOf(password) ?? null;
}

function OpeningStep({ opening, known, busy, error, onBack, onNext }: OpeningProps): ReactNode {
  const { keychain } = useStatus();
  const [useKeychain, setUseKeychain] = useState(opening.useKeychain);
  const [password, setPassword] = useState(opening.password);
  const [repeated, setRepeated] = useState(opening.password);
  const [tried, setTried] = useState(false);
  const problem = tried ? passwordProblem(password, useKeychain) : null;
  const differs = password === '' || password === repeated ? null : t('The passwords don’t match.');
  const next = () => {
    setTried(true);
    if (passwordProblem(password, useKeychain) === null && differs === null) {
      onNext({ useKeychain, password });
    }
  };
  return (
    <StepFrame title={t('Unlock methods')} next={t('Continue')} busy={busy} onBack={onBack} onNext={next}>
      <p className="kh-prose">
        {t('Choose how you unlock. The recovery phrase in the next step always works.')}
      </p>
      <Stack gap="lg">
        <Switch
          label={t('Unlock with this computer’s keychain')}
          description={
            keychain.available
              ? t('Opens while you are logged in. Your other programs can use the keychain too.')
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
              useKeychain ? t('For when the keychain is not available.') : t('Needed for each unlock.')
            }
            autoComplete="new-password"
            required={!useKeychain}
            visibilityToggleButtonProps={{ 'aria-label': t('Show password'), tabIndex: 0 }}
            value={password}
            error={problem}
            onChange={onText(setPassword)}
          />
          {/* The field already shows the problem. */}
          {problem === null && <StrengthMeter password={password} known={known} />}
        </div>
        {(password !== '' || !useKeychain) && (
          <PasswordField
            label={t('Repeat password')}
            autoComplete="new-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': t('Show repeated password'), tabIndex: 0 }}
            value={repeated}
            error={tried && differs}
            onChange={onText(setRepeated)}
          />
        )}
        <Failure title={t('Couldn’t generate the recovery phrase')} error={error} />
      </Stack>
    </StepFrame>
  );
}

import { useState } from 'react';
import type { SyntheticEvent, ReactNode } from 'react';
import { Anchor, Button, Group, PasswordInput, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { CreateVault, KeyslotKind, VaultStatus } from '../../preload/contract.ts';
import { longestName } from '../parts/names.ts';
import { Outcomes, useScreenTitle } from '../parts/page.tsx';
import { passwordStrength, shortestPassword } from '../parts/password.ts';
import { drawPositions, randomBelow, wordsOf } from '../parts/phrase.ts';
import { PhraseSheet } from '../parts/phrase-sheet.tsx';
import { Failure } from '../parts/states.tsx';
import { StrengthMeter } from '../parts/strength-meter.tsx';
import { Steps, Threshold } from '../parts/threshold.tsx';
import { useBridge, useStatus, useStatusCall } from '../parts/vault.tsx';

const steps = ['Welcome', 'Names', 'How it opens', 'Recovery phrase', 'Check the words', 'Done'] as const;

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
  /** Told when this window begins to create the vault, when that failed, and when its owner is done here. */
  readonly onCreating: (creating: boolean) => void;
}

/** From nothing to a vault: names, what opens it, the recovery phrase written down and checked. */
export function FirstRun({ onCreating }: Props): ReactNode {
  const bridge = useBridge();
  const status = useStatus();
  const [step, setStep] = useState(0);
  const [names, setNames] = useState<Names>({
    organizationName: 'Personal',
    userName: 'Owner',
    userEmail: '',
  });
  const [opening, setOpening] = useState<Opening>({ useKeychain: status.keychain.available, password: '' });
  const [words, setWords] = useState<readonly string[]>([]);
  const [positions, setPositions] = useState<readonly number[]>([]);
  const draw = useMutation({ mutationFn: () => bridge.newRecoveryPhrase() });
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
    setPositions(drawPositions(3, words.length, randomBelow));
    setStep(4);
  };
  const back = () => {
    setStep(step - 1);
  };

  const makeVault = () => {
    onCreating(true);
    create.mutate(
      {
        organizationName: names.organizationName.trim(),
        userName: names.userName.trim(),
        ...(names.userEmail.trim() === '' ? {} : { userEmail: names.userEmail.trim() }),
        useKeychain: opening.useKeychain,
        ...(opening.password === '' ? {} : { password: opening.password }),
        confirmedWords: positions.map((position) => ({ position, word: words[position - 1] ?? '' })),
      },
      {
        onSuccess() {
          // Neither is needed again; the vault has them sealed.
          setWords([]);
          setOpening({ ...opening, password: '' });
          setStep(5);
        },
        onError() {
          onCreating(false);
        },
      },
    );
  };

  return (
    <Threshold latch={step === 5 ? 'open' : 'shut'} door={<Steps steps={steps} current={step} />}>
      {step === 0 && (
        <Welcome
          onNext={() => {
            setStep(1);
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
          positions={positions}
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
          onNext={() => {
            onCreating(false);
          }}
        />
      )}
    </Threshold>
  );
}

interface FrameProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly next: string;
  readonly busy?: boolean;
  readonly onBack?: () => void;
  readonly onNext: () => void;
}

/** One step: its heading, what it asks, and the way on and back. Enter goes on. */
function StepFrame({ title, children, next, busy = false, onBack, onNext }: FrameProps): ReactNode {
  const heading = useScreenTitle(title);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    onNext();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Title order={1} ref={heading} tabIndex={-1} mb="xs">
        {title}
      </Title>
      {children}
      <Group mt="xl" gap="sm" className="lk-noprint">
        <Button type="submit" size="md" loading={busy}>
          {next}
        </Button>
        {onBack !== undefined && (
          <Button variant="subtle" size="md" color="gray" c="dimmed" onClick={onBack} disabled={busy}>
            Back
          </Button>
        )}
      </Group>
    </form>
  );
}

function Welcome({ onNext }: { readonly onNext: () => void }): ReactNode {
  const { directory } = useStatus();
  return (
    <StepFrame title="A vault for your keys" next="Set up my vault" onNext={onNext}>
      <p className="lk-prose">
        Latchkey keeps wallets and private keys sealed on this computer and signs with them when you, or a
        script you allow, ask it to. Keys never leave the vault unless you export them, and nothing here talks
        to the internet.
      </p>
      <Outcomes
        title="What the next few minutes bring"
        items={[
          'You name the vault and choose what opens it.',
          'You write down 24 words on paper. They are the one way back in when everything else is lost.',
          directory === null ? (
            'The vault is made, in memory only: it is gone when Latchkey stops.'
          ) : (
            <>
              The vault is made in <span className="lk-mono">{directory}</span>. Until the last step nothing
              you type is written.
            </>
          ),
        ]}
      />
      <Text size="sm" c="dimmed" mt="md">
        Have a pen and paper at hand, and nobody looking over your shoulder.
      </Text>
    </StepFrame>
  );
}

interface NamesProps {
  readonly names: Names;
  readonly onBack: () => void;
  readonly onNext: (names: Names) => void;
}

function NamesStep({ names, onBack, onNext }: NamesProps): ReactNode {
  const form = useForm({
    mode: 'controlled',
    initialValues: names,
    validate: {
      organizationName: (value: string) => (value.trim() === '' ? 'Give the vault a name.' : null),
      userName: (value: string) => (value.trim() === '' ? 'Give yourself a name.' : null),
      userEmail: (value: string) =>
        value.trim() === '' || /^\S+@\S+\.\S+$/.test(value.trim())
          ? null
          : 'This is not an email address. It may stay empty.',
    },
  });
  return (
    <StepFrame title="Names" next="Continue" onBack={onBack} onNext={form.onSubmit(onNext)}>
      <p className="lk-prose">
        Both names appear in the activity log and in what scripts see. The defaults are fine if you have one
        vault.
      </p>
      <Stack gap="md">
        <TextInput
          label="Vault"
          description="The API calls it the organization: everything in this vault belongs to it."
          autoComplete="off"
          maxLength={longestName}
          required
          {...form.getInputProps('organizationName')}
        />
        <TextInput
          label="You"
          description="The first user, who may do everything."
          autoComplete="off"
          maxLength={longestName}
          required
          {...form.getInputProps('userName')}
        />
        <TextInput
          label="Email (optional)"
          description="Kept in the vault as part of your user. Nothing is sent to it."
          type="email"
          autoComplete="off"
          {...form.getInputProps('userEmail')}
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

function OpeningStep({ opening, busy, error, onBack, onNext }: OpeningProps): ReactNode {
  const { keychain } = useStatus();
  const form = useForm({
    mode: 'controlled',
    initialValues: { ...opening, repeated: opening.password },
    validate: {
      password(value: string, { useKeychain }) {
        if (value === '')
          return useKeychain ? null : 'Choose a password: without the keychain it is what opens the vault.';
        return value.length < shortestPassword ? passwordStrength(value).hint : null;
      },
      repeated: (value: string, { password }) =>
        value === password ? null : 'The two passwords differ. Type the same one twice.',
    },
  });
  const { useKeychain, password } = form.values;
  return (
    <StepFrame
      title="How the vault opens"
      next="Continue"
      busy={busy}
      onBack={onBack}
      onNext={form.onSubmit(({ repeated: _, ...given }) => {
        onNext(given);
      })}
    >
      <p className="lk-prose">
        The vault’s keys are sealed with one master key. Choose what may unseal it day to day; the recovery
        phrase of the next step always can.
      </p>
      <Stack gap="lg">
        <Switch
          label="Open with this computer’s keychain"
          description={
            keychain.available
              ? 'The vault opens when you are logged in to this computer. Programs that run as you could ask the keychain too.'
              : `Not available: ${keychain.reason}`
          }
          disabled={!keychain.available}
          {...form.getInputProps('useKeychain', { type: 'checkbox' })}
        />
        <div>
          <PasswordInput
            label={useKeychain ? 'Password (optional)' : 'Password'}
            description={
              useKeychain
                ? 'A second way in, for when the keychain is not at hand. You can leave it empty.'
                : 'Asked for each time the vault opens.'
            }
            autoComplete="new-password"
            required={!useKeychain}
            visibilityToggleButtonProps={{ 'aria-label': 'Show password', tabIndex: 0 }}
            {...form.getInputProps('password')}
          />
          <StrengthMeter password={password} />
        </div>
        {(password !== '' || !useKeychain) && (
          <PasswordInput
            label="The same password again"
            autoComplete="new-password"
            required
            visibilityToggleButtonProps={{ 'aria-label': 'Show repeated password', tabIndex: 0 }}
            {...form.getInputProps('repeated')}
          />
        )}
        <Failure title="The recovery phrase could not be drawn" error={error} />
      </Stack>
    </StepFrame>
  );
}

interface PhraseProps {
  readonly words: readonly string[];
  readonly vaultName: string;
  readonly busy: boolean;
  readonly onBack: () => void;
  readonly onDraw: () => void;
  readonly onNext: () => void;
}

function PhraseStep({ words, vaultName, busy, onBack, onDraw, onNext }: PhraseProps): ReactNode {
  const [seen, setSeen] = useState<readonly string[] | null>(null);
  const [pressed, setPressed] = useState(false);
  return (
    <StepFrame
      title="Your recovery phrase"
      next="I have written them down"
      busy={busy}
      onBack={onBack}
      onNext={() => {
        if (seen === words) onNext();
        else setPressed(true);
      }}
    >
      <p className="lk-prose lk-noprint">
        These 24 words open the vault when nothing else does. Whoever has them has your keys, so they belong
        on paper, not in a photo, a note or a message. This is the only time they are shown.
      </p>
      <PhraseSheet
        words={words}
        vaultName={vaultName}
        onShow={() => {
          setSeen(words);
        }}
      />
      <div className="lk-noprint">
        {pressed && seen !== words && (
          <Text c="var(--lk-danger)" size="sm" role="alert" mt="sm">
            Show the words first and write them down; three of them are asked for next.
          </Text>
        )}
        <Text size="sm" c="dimmed" mt="md">
          Did someone see them?{' '}
          <Anchor component="button" type="button" size="sm" onClick={onDraw}>
            Draw 24 new words
          </Anchor>
          . The old ones then open nothing.
        </Text>
      </div>
    </StepFrame>
  );
}

interface CheckProps {
  readonly words: readonly string[];
  readonly positions: readonly number[];
  readonly opening: Opening;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onBack: () => void;
  readonly onNext: () => void;
}

function CheckStep({ words, positions, opening, busy, error, onBack, onNext }: CheckProps): ReactNode {
  const { directory } = useStatus();
  const [typed, setTyped] = useState<readonly string[]>(positions.map(() => ''));
  const [problems, setProblems] = useState<readonly (string | null)[]>([]);
  const check = () => {
    const found = positions.map((position, index) => {
      const word = (typed[index] ?? '').trim().toLowerCase();
      if (word === '') return `Type word ${String(position)}.`;
      return word === words[position - 1]
        ? null
        : `This is not word ${String(position)}. Look at number ${String(position)} on your paper again.`;
    });
    setProblems(found);
    if (found.every((problem) => problem === null)) onNext();
  };
  return (
    <StepFrame title="Check the words" next="Create the vault" busy={busy} onBack={onBack} onNext={check}>
      <p className="lk-prose">From your paper: three words, to be sure that they can be read later.</p>
      <div className="lk-three">
        {positions.map((position, index) => (
          <TextInput
            key={position}
            label={`Word ${String(position)}`}
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            required
            error={problems[index]}
            value={typed[index] ?? ''}
            onChange={(event) => {
              setTyped(typed.with(index, event.currentTarget.value));
            }}
          />
        ))}
      </div>
      <Outcomes
        items={[
          directory === null ? (
            'The vault is made in memory.'
          ) : (
            <>
              The vault is written to <span className="lk-mono">{directory}</span>, readable by you alone.
            </>
          ),
          `It will open with ${openers(opening)}.`,
          'Your first API key is drawn and sealed in it, so that this window can act for you.',
        ]}
      />
      <Stack mt="md">
        <Failure title="The vault was not created" error={error} />
      </Stack>
    </StepFrame>
  );
}

const openers = ({ useKeychain, password }: Opening): string =>
  [
    'the recovery phrase',
    ...(password === '' ? [] : ['your password']),
    ...(useKeychain ? ['this computer’s keychain'] : []),
  ]
    .reverse()
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ');

const slotNames: Readonly<Record<KeyslotKind, string>> = {
  keychain: 'this computer’s keychain',
  password: 'your password',
  recovery: 'the recovery phrase',
};

function Done({ made, onNext }: { readonly made: VaultStatus; readonly onNext: () => void }): ReactNode {
  return (
    <StepFrame title="Your vault is ready" next="Open the vault" onNext={onNext}>
      <p className="lk-prose">Nothing left this computer. This is what was done:</p>
      <Outcomes
        title="What happened"
        done
        items={[
          <>
            The vault “{made.organization?.name}” was made
            {made.directory === null ? (
              ' in memory'
            ) : (
              <>
                {' '}
                in <span className="lk-mono">{made.directory}</span>
              </>
            )}
            , and it is open now.
          </>,
          `It opens with ${made.keyslots
            .map((slot) => slotNames[slot])
            .join(', ')
            .replace(/, (?=[^,]*$)/, ' or ')}.`,
          <>
            Scripts on this computer reach it at <span className="lk-mono">{made.url}</span>, once you give
            them a key under Connect.
          </>,
        ]}
      />
      <Text size="sm" c="dimmed" mt="md">
        Put the paper with the 24 words away before you go on. Next: a first wallet.
      </Text>
    </StepFrame>
  );
}

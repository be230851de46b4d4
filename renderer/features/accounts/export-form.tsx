import { useEffect, useRef, useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Stack, Text } from '@mantine/core';
import { FormEnd } from '../../ui/form-end.tsx';
import { useOwnerSecret } from '../keyslots/keyslot-form.tsx';
import { keyTexts } from './key-text.ts';
import { Facts, Expectations } from '../../ui/page.tsx';
import { PhraseSheet } from '../keyslots/phrase-sheet.tsx';
import { PrivateKeySwitch, useReveal } from '../../ui/secret.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useExport } from './transfer.ts';
import type { SubmitExport } from './transfer.ts';
import { Copyable } from '../../ui/copyable.tsx';
import { useRpc } from '../../app/rpc/vault.tsx';
import '../keyslots/phrase-sheet.css';

interface Props {
  readonly submit: SubmitExport;
  readonly what: keyof typeof exporting;
  readonly outcomes: readonly ReactNode[];
  readonly onDone: () => void;
  /** Shows the secret, which is wiped when the form goes away. */
  readonly children: (secret: Uint8Array) => ReactNode;
}

/** The button that exports it, and what did not happen where that is refused. */
const exporting = {
  privateKey: [t('Export private key'), t('Couldn’t export the private key')],
  secret: [t('Show value'), t('Couldn’t export the secret')],
  seedPhrase: [t('Export seed phrase'), t('Couldn’t export the seed phrase')],
} as const;

/** Exports a secret after the owner's step-up, and keeps it only while it is on the screen. */
export function ExportForm({ submit, what, outcomes, onDone, children }: Props): ReactNode {
  const rpc = useRpc();
  const [action, failed] = exporting[what];
  const bring = useExport(submit);
  const proof = useOwnerSecret();
  const task = useAsyncAction();
  const [secret, setSecret] = useState<Uint8Array | null>(null);
  useEffect(
    () => () => {
      secret?.fill(0);
    },
    [secret],
  );
  const start = (event: SyntheticEvent) => {
    event.preventDefault();
    const given = proof.read();
    if (given === null) return;
    task.run(async () => {
      await rpc.prove(given);
      setSecret(await bring());
    });
  };
  if (secret !== null) {
    return (
      <Stack gap="md">
        {children(secret)}
        <div className="kh-noprint">
          <Button onClick={onDone}>{t('Done')}</Button>
        </div>
      </Stack>
    );
  }
  return (
    <form onSubmit={start} noValidate>
      <Stack gap="md">
        <Expectations items={outcomes} />
        {proof.fields(start, true)}
        <FormEnd failed={failed} error={task.error} busy={task.isPending} does={action} back={onDone} />
      </Stack>
    </form>
  );
}

interface SeedProps {
  /** As it was exported: the mnemonic, and on a line of its own the BIP-39 passphrase where there is one. */
  readonly secret: Uint8Array;
  readonly walletName: string;
}

export function SeedPhrase({ secret, walletName }: SeedProps): ReactNode {
  // Read once: after the form is gone the bytes are zeros.
  const [{ words, passphrase }] = useState(() => {
    const [mnemonic = '', ...rest] = new TextDecoder().decode(secret).split('\n');
    return { words: mnemonic.split(' '), passphrase: rest.join('\n') };
  });
  return (
    <PhraseSheet
      words={words}
      passphrase={passphrase}
      label={t('Seed phrase')}
      printTitle={t('Seed phrase of the wallet “{{walletName}}”', { walletName })}
    />
  );
}

interface KeyProps {
  /** 32 bytes. */
  readonly secret: Uint8Array;
  readonly curve: string;
}

/** A private key in each form that other programs accept, hidden until a person shows it. */
export function PrivateKeyTexts({ secret, curve }: KeyProps): ReactNode {
  const [texts] = useState(() => keyTexts(secret, curve));
  const reveal = useReveal(texts);
  const sheet = useRef<HTMLDivElement>(null);
  return (
    <div className="kh-sheet" ref={sheet} tabIndex={-1}>
      <Facts
        rows={texts.map(([name, text, copy]) => [
          name,
          <Copyable key={name} text={text} shown={reveal.shown ? text : '•'.repeat(24)} copy={copy} secret />,
        ])}
      />
      <div className="kh-sheet-buttons">
        <PrivateKeySwitch reveal={reveal} onShown={() => sheet.current?.focus()} />
      </div>
      {reveal.ending}
      <Text size="sm" mt="sm">
        {t(
          'Anyone with this key can sign. Other programs can read the clipboard, which is cleared after 30 seconds.',
        )}
      </Text>
    </div>
  );
}

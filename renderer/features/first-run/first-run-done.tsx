import type { ReactNode } from 'react';
import { Stack, Text } from '@mantine/core';
import type { KeyslotKind, VaultStatus } from '../../../preload/contract.ts';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { Expectations } from '../../ui/page.tsx';
import { SheetMaker } from '../keyslots/recovery-sheet.tsx';
import { StepFrame } from './step-frame.tsx';
import { anyOf, t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';

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

/** The last step: the new vault, and how to open it. */
export function Done({ made, phrase, onNext }: DoneProps): ReactNode {
  const name = made.organization?.name ?? '';
  return (
    <StepFrame title={t('Your vault is ready')} next={t('Open the vault')} onNext={onNext}>
      <p className="kh-prose">{t('Nothing has left this computer.')}</p>
      <Expectations
        title={t('Summary')}
        done
        items={[
          made.directory === null ? (
            t('The vault “{{name}}” is in memory, unlocked.', { name })
          ) : (
            <Trans
              i18nKey="The vault “{{name}}” is in <mono>{{directory}}</mono>, unlocked."
              values={{ name, directory: made.directory }}
              components={{ mono: <span className="kh-mono" /> }}
            />
          ),
          t('The vault opens with {{keyslots}}.', {
            keyslots: anyOf(made.keyslots.map((slot) => slotNames[slot])),
          }),
          <>
            <Trans
              i18nKey="Scripts reach the vault at <span>{{url}}</span> with a key from Connect."
              values={{ url: made.url }}
              components={{ span: <span className="kh-mono" /> }}
            />
          </>,
        ]}
      />
      <Stack gap="xs" mt="md" align="start">
        <Text size="sm">{t('You can also print the words with a QR code, or as shares.')}</Text>
        <DialogButton name={t('Print a recovery sheet…')} title={t('Recovery sheet')} wide>
          {() => <SheetMaker phrase={phrase} />}
        </DialogButton>
      </Stack>
      <Text size="sm" c="dimmed" mt="md">
        {t('Put the paper with the words away before you go on.')}
      </Text>
    </StepFrame>
  );
}

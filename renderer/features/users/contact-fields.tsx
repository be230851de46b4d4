import type { ReactNode } from 'react';
import { TextInput } from '@mantine/core';
import { emailProblem, phoneProblem } from './contact.ts';
import { t } from '../../app/i18n/text.ts';

export interface Contact {
  readonly email: string;
  readonly phone: string;
}

interface Props {
  readonly value: Contact;
  /** Shows the problems, after the first attempt. */
  readonly tried: boolean;
  readonly onType: (value: Contact) => void;
}

export function ContactFields({ value, tried, onType }: Props): ReactNode {
  return (
    <>
      <TextInput
        label={t('Email (optional)')}
        description={t('Receives sign-in codes if email is set up.')}
        type="email"
        autoComplete="off"
        maxLength={254}
        value={value.email}
        error={tried && emailProblem(value.email)}
        onChange={(event) => {
          onType({ ...value, email: event.currentTarget.value });
        }}
      />
      <TextInput
        label={t('Phone number (optional)')}
        description={t('With + and the country code.')}
        type="tel"
        autoComplete="off"
        maxLength={40}
        value={value.phone}
        error={tried && phoneProblem(value.phone)}
        onChange={(event) => {
          onType({ ...value, phone: event.currentTarget.value });
        }}
      />
    </>
  );
}

import type { ReactNode } from 'react';
import { PasswordInput } from '@mantine/core';
import type { PasswordInputProps } from '@mantine/core';

/** A field for a secret. Unlike its other fields, Mantine's does not tell a screen reader that what it holds is refused. */
export const PasswordField = (props: PasswordInputProps): ReactNode => (
  <PasswordInput
    aria-invalid={props.error !== undefined && props.error !== null && props.error !== false}
    {...props}
  />
);

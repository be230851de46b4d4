import type { ReactNode } from 'react';
import { PasswordInput } from '@mantine/core';
import type { PasswordInputProps } from '@mantine/core';

interface Props extends Omit<PasswordInputProps, 'autoComplete'> {
  /**
   * `current-password` for the vault's own. Browsers ignore `off` here and may fill in the vault's password, which would then be
   * sent on: a secret from elsewhere is a `new-password` to them.
   */
  readonly autoComplete: 'current-password' | 'new-password';
}

/** A field for a secret. Unlike its other fields, Mantine's does not tell a screen reader that what it holds is refused. */
export const PasswordField = (props: Props): ReactNode => (
  <PasswordInput
    aria-invalid={props.error !== undefined && props.error !== null && props.error !== false}
    {...props}
  />
);

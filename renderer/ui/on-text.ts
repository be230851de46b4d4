import type { ChangeEvent } from 'react';

/** Hands on what is typed in a field, or chosen in a native list. */
export const onText =
  (set: (text: string) => void) =>
  ({ currentTarget }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>): void => {
    set(currentTarget.value);
  };

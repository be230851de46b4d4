/** A form over what is saved, which another person may save again while it is edited. */
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { Alert, Button, Group } from '@mantine/core';
import { Facts } from '../ui/page.tsx';
import { Exact } from '../ui/text/exact.tsx';
import { useDraftState } from './drafts.ts';
import { t } from './i18n/text.ts';

type Fields<Saved> = Readonly<Record<keyof Saved, string>>;

/** Of values whose fields are in one order. */
export const areSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

interface Edited<Saved> {
  /** Of the form, where its screen has another. */
  readonly name?: string;
  /** The newest that the window knows. */
  readonly saved: Saved;
  /** The same fields as they would be saved now. */
  readonly typed: Saved;
  readonly isSaving: boolean;
  /** Shows what is saved, by a form that begins again. */
  readonly onTake: () => void;
}

interface Save<Saved> {
  readonly sent: Saved;
  /** Asks the vault, and shows what it answers. */
  readonly readNow: () => Promise<Saved>;
  readonly send: () => Promise<unknown>;
}

export interface Meanwhile<Saved> {
  /** The values that the person saw when the edits began. */
  readonly begun: Saved;
  /** True while another version is saved than the edits began with: nothing is saved over that one unseen. */
  readonly isOutdated: boolean;
  /** Saves where the vault still has what the edits began with. @returns false where it does not. */
  readonly save: (save: Save<Saved>) => Promise<boolean>;
  /** The edits are over what is saved now. */
  readonly keep: () => void;
}

/** A form without edits follows what is saved. One with edits keeps them. */
export function useMeanwhile<Saved extends Fields<Saved>>(edited: Edited<Saved>): Meanwhile<Saved> {
  const { name = 'form', saved, typed, isSaving, onTake } = edited;
  const [begun, setBegun] = useDraftState(`begun ${name}`, saved);
  // A version that comes while this one is saved is one's own, or is compared afterwards.
  const isNew = !isSaving && !areSame(saved, begun);
  const keep = () => {
    setBegun(saved);
  };
  const isTyped = isNew && areSame(typed, saved);
  if (isTyped) keep();
  const isUntouched = isNew && areSame(typed, begun);
  useEffect(() => {
    if (isUntouched) onTake();
  }, [isUntouched, onTake]);
  return {
    begun,
    isOutdated: isNew && !isTyped && !isUntouched,
    keep,
    async save({ sent, readNow, send }) {
      if (!areSame(await readNow(), begun)) return false;
      await send();
      setBegun(sent);
      await readNow().catch(() => undefined);
      return true;
    },
  };
}

interface Props<Saved> {
  readonly meanwhile: Meanwhile<Saved>;
  readonly saved: Saved;
  readonly labels: Fields<Saved>;
  /** Words for the values of a field that are none themselves. */
  readonly words?: Readonly<Partial<Record<keyof Saved, ReadonlyMap<string, string>>>>;
  readonly onTake: () => void;
}

/** The fields that another person saved since, and the choice between both versions. */
export function ChangedMeanwhile<Saved extends Fields<Saved>>(props: Props<Saved>): ReactNode {
  const { meanwhile, saved, labels, words, onTake } = props;
  if (!meanwhile.isOutdated) return null;
  const changed = (Object.keys(labels) as (keyof Saved)[]).filter(
    (name) => saved[name] !== meanwhile.begun[name],
  );
  const say = (name: keyof Saved): ReactNode =>
    words?.[name]?.get(saved[name]) ?? (saved[name] === '' ? t('Empty') : <Exact text={saved[name]} />);
  return (
    <Alert
      role="alert"
      color="brass"
      variant="light"
      className="kh-brass-alert"
      title={t('This was changed meanwhile')}
    >
      <p>{t('Your changes stay here and aren’t saved yet. Saved now:')}</p>
      <Facts rows={changed.map((name) => [labels[name], say(name)])} />
      <Group gap="sm" mt="sm">
        <Button size="xs" variant="default" onClick={onTake}>
          {t('Discard mine')}
        </Button>
        <Button size="xs" variant="default" onClick={meanwhile.keep}>
          {t('Keep mine')}
        </Button>
      </Group>
    </Alert>
  );
}

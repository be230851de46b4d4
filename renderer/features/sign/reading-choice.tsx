/** Chooses how what was pasted is read. Two readings that fit are never decided in silence. */

import { useState } from 'react';
import type { ReactNode } from 'react';
import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { t } from '../../app/i18n/text.ts';
import { useRpc } from '../../app/rpc/vault.tsx';
import { Exact } from '../../ui/text/exact.tsx';
import { readable } from '../../ui/text/readable.ts';
import { likelyReading, readingsOf } from './readings.ts';
import type { Reading, ReadingKind, Readings } from './readings.ts';
import type { Signer } from './signer-choice.tsx';
import { describing } from './transaction-summary.tsx';
import './sign.css';

/** A reading that fits, with what signing would do, where the service read it. */
interface Offer extends Reading {
  readonly title: string | null;
}

interface Choice {
  readonly readings: Readings;
  /** Undefined while it is undecided. */
  readonly kind: ReadingKind | null;
  readonly offers: readonly Offer[];
  /** Why a reading that the text begins like does not fit. */
  readonly refusals: readonly { readonly label: string; readonly why: string }[];
  /** True while the service still reads. */
  readonly isReading: boolean;
  readonly choose: (kind: ReadingKind) => void;
}

/** Milliseconds without typing before the service reads. */
const pause = 250;

const nothing: Readings = { formed: [], plain: [], problem: null };

export function useReadingChoice(
  typed: string,
  signer: Signer | undefined,
  addressFormat: string | undefined,
): Choice {
  const rpc = useRpc();
  const [written] = useDebouncedValue(typed, pause);
  // The choice is for exactly what was read: other text is another question.
  const [chosen, setChosen] = useState<{ readonly of: string; readonly kind: ReadingKind } | null>(null);
  const isWritten = written === typed;
  const readings = signer === undefined ? nothing : readingsOf(typed, { curve: signer.curve, addressFormat });
  const of = JSON.stringify([signer?.signWith, typed]);
  const asked = useQueries({
    queries: isWritten
      ? readings.formed.map(({ request }) => describing(rpc, { ...request, signWith: signer?.signWith }))
      : [],
  });
  const isReading = !isWritten || asked.some(({ isPending }) => isPending);
  const formed = readings.formed.map((reading, index) => {
    const { data, error } = asked[index] ?? {};
    const why = error != null ? readable(error) : (data?.description.unread ?? null);
    return {
      ...reading,
      title: data?.description.title ?? null,
      fits: data !== undefined && why === null,
      why,
    };
  });
  const fitting = formed.filter(({ fits }) => fits);
  const offers: Offer[] = [...fitting, ...readings.plain.map((reading) => ({ ...reading, title: null }))];
  const kinds = fitting.map(({ kind }) => kind);
  const isChosen = chosen?.of === of && offers.some(({ kind }) => kind === chosen.kind);
  return {
    readings,
    kind: isChosen ? chosen.kind : isReading ? null : likelyReading(readings, kinds),
    offers: isReading ? [] : offers,
    refusals: isReading
      ? []
      : formed.flatMap(({ marked, label, why }) => (marked && why !== null ? [{ label, why }] : [])),
    isReading,
    choose: (kind) => {
      setChosen({ of, kind });
    },
  };
}

/** The readings that fit, as soon as there are two; else nothing. */
export function ReadingChoice({
  choice,
  tried,
}: {
  readonly choice: Choice;
  /** The person pressed Sign. */
  readonly tried: boolean;
}): ReactNode {
  const { offers, kind, refusals, choose, isReading, readings } = choice;
  if (isReading) return <Text role="status">{t('Reading…')}</Text>;
  if (offers.length < 2 && kind !== null) return null;
  const isRefused = tried && kind === null;
  return (
    <fieldset className="kh-readings" aria-describedby={isRefused ? 'reading-problem' : undefined}>
      <legend className="kh-label">{t('Read as')}</legend>
      {kind === null && readings.problem === null && (
        <Text size="sm" c="dimmed">
          {refusals.length === 0 ? t('This fits more than one kind. Choose.') : t('Choose how to read this.')}
        </Text>
      )}
      {refusals.map(({ label, why }) => (
        <Text key={label} size="sm">
          {t('Not a valid {{label}}:', { label })} <Exact text={why} />
        </Text>
      ))}
      {offers.map((offer) => (
        <label key={offer.kind} className="kh-reading">
          <input
            type="radio"
            name="reading"
            value={offer.kind}
            checked={kind === offer.kind}
            aria-invalid={isRefused || undefined}
            onChange={() => {
              choose(offer.kind);
            }}
          />
          <span>
            {offer.label}
            {offer.title !== null && (
              <span className="kh-reading-title">
                <Exact text={offer.title} />
              </span>
            )}
          </span>
        </label>
      ))}
      {isRefused && (
        <Text id="reading-problem" size="sm" className="kh-problem" role="alert">
          {t('Choose one, then sign.')}
        </Text>
      )}
    </fieldset>
  );
}

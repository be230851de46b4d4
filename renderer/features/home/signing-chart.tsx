import type { ReactNode } from 'react';
import { VisuallyHidden } from '@mantine/core';
import type { Answer } from '../../../main/operations/api.ts';
import { LoadingRows, Failure } from '../../ui/feedback.tsx';
import { Panel } from '../../ui/page.tsx';
import { locale } from '../../app/i18n/language.ts';
import { t, usualBlanks } from '../../app/i18n/text.ts';
import { useApiQuery } from '../../app/rpc/vault.tsx';
import './signing-chart.css';

type Day = Answer<'count_signing_days'>['days'][number];

/** Signing requests of the last 30 days. */
export function SigningDays(): ReactNode {
  const { data, error, isPending, refetch } = useApiQuery('count_signing_days');
  const days = data?.days ?? [];
  const signed = days.reduce((sum, day) => sum + day.signed, 0);
  const refused = days.reduce((sum, day) => sum + day.refused, 0);
  return (
    <Panel title={t('Signing requests, last 30 days')}>
      {isPending && <LoadingRows label={t('Counting the signing requests')} rows={2} />}
      <Failure
        title={t('Couldn’t count the signing requests')}
        error={error}
        onRetry={() => void refetch()}
      />
      {data !== undefined && (
        <>
          <p className="kh-legend">
            <span data-series="signed">{t('{{signed}} signed', { signed: shownNumber(signed) })}</span>
            <span data-series="refused">{t('{{refused}} refused', { refused: shownNumber(refused) })}</span>
          </p>
          <Bars days={days} />
          <DayTable days={days} />
        </>
      )}
    </Panel>
  );
}

const width = 10;
const gap = 3;
const height = 96;
/** A day with few requests still shows. */
const least = 3;

const heightOf = (count: number, top: number): number =>
  count === 0 ? 0 : Math.max(least, (count / top) * height);

/** The picture. The table has the same for screen readers. */
function Bars({ days }: { readonly days: readonly Day[] }): ReactNode {
  const top = Math.max(1, maximumOf(days));
  const across = days.length * (width + gap) - gap;
  const [first, last] = [days[0], days.at(-1)];
  return (
    <figure className="kh-bars" aria-hidden>
      <svg viewBox={`0 0 ${String(across)} ${String(height + 2 * least)}`} preserveAspectRatio="none">
        {days.map((day, index) => {
          const signed = heightOf(day.signed, top);
          const refused = heightOf(day.refused, top);
          const bottom = height + 2 * least;
          return (
            <g key={day.date} transform={`translate(${String(index * (width + gap))} 0)`}>
              <title>{sentenceOf(day)}</title>
              {/* Takes the pointer on days without requests too. */}
              <rect width={width + gap} height={bottom} fill="transparent" />
              <rect y={bottom - 1} width={width} height={1} data-series="ground" />
              <rect y={bottom - signed} width={width} height={signed} data-series="signed" />
              <rect y={bottom - signed - refused} width={width} height={refused} data-series="refused" />
            </g>
          );
        })}
      </svg>
      {first !== undefined && last !== undefined && (
        <figcaption>
          <span>{dayOf(first)}</span>
          <span>{t('Most in a day: {{most}}', { most: shownNumber(maximumOf(days)) })}</span>
          <span>{t('Today')}</span>
        </figcaption>
      )}
    </figure>
  );
}

const maximumOf = (days: readonly Day[]): number =>
  Math.max(0, ...days.map(({ signed, refused }) => signed + refused));

function DayTable({ days }: { readonly days: readonly Day[] }): ReactNode {
  const busy = days.filter(({ signed, refused }) => signed + refused > 0);
  return (
    <VisuallyHidden>
      <table>
        <caption>{t('Days with signing requests')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('Day')}</th>
            <th scope="col">{t('Signed')}</th>
            <th scope="col">{t('Refused')}</th>
          </tr>
        </thead>
        <tbody>
          {busy.map((day) => (
            <tr key={day.date}>
              <th scope="row">{dayOf(day)}</th>
              <td>{day.signed}</td>
              <td>{day.refused}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </VisuallyHidden>
  );
}

const numbers = new Intl.NumberFormat(locale);
const shownNumber = (count: number): string => usualBlanks(numbers.format(count));

const dates = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });

/** The date is one of the vault's computer: its letters are taken as they are. */
function dayOf({ date }: Day): string {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  return usualBlanks(dates.format(new Date(year, month - 1, day)));
}

const sentenceOf = (day: Day): string =>
  t('{{day}}: {{signed}} signed, {{refused}} refused', {
    day: dayOf(day),
    signed: String(day.signed),
    refused: String(day.refused),
  });

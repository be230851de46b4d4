import { useState } from 'react';
import type { ReactNode, SyntheticEvent } from 'react';
import { Button, Group, NumberInput, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { IconEyeOff, IconPrinter } from '@tabler/icons-react';
import { createPortal } from 'react-dom';
import type { Sheet } from '../../../preload/contract.ts';
import { Grouped } from '../../ui/identifier.tsx';
import { Facts } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { HoldButton, printPage, useReveal } from '../../ui/secret.tsx';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import { useRpc } from '../../app/rpc/vault.tsx';
import './recovery-sheet.css';

const mostShares = 10;

/** Makes sheets of a phrase that opens the vault, whole or in shares; they are gone when the screen is. */
export function SheetMaker({ phrase }: { readonly phrase: string }): ReactNode {
  const rpc = useRpc();
  const task = useAsyncAction();
  const [form, setForm] = useState<'phrase' | 'shares'>('phrase');
  const [threshold, setThreshold] = useState<string | number>(2);
  const [count, setCount] = useState<string | number>(3);
  const [tried, setTried] = useState(false);
  const [sheets, setSheets] = useState<readonly Sheet[] | null>(null);
  const countProblem = numberProblem(count, mostShares);
  const thresholdProblem = numberProblem(threshold, Math.min(Number(count) || mostShares, mostShares));
  const isFine = form === 'phrase' || (countProblem === null && thresholdProblem === null);

  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    // In a dialog of a form this one is not the other.
    event.stopPropagation();
    setTried(true);
    if (!isFine) return;
    task.run(async () => {
      const shares = { threshold: Number(threshold), count: Number(count) };
      setSheets(await rpc.recoverySheet({ phrase, ...(form === 'shares' ? { shares } : {}) }));
    });
  };
  if (sheets !== null) return <Sheets sheets={sheets} />;
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md" maw={560}>
        <SegmentedControl
          aria-label={t('Contents')}
          value={form}
          onChange={setForm}
          data={[
            { value: 'phrase', label: t('Whole phrase') },
            { value: 'shares', label: t('Shares') },
          ]}
          fullWidth
        />
        {form === 'shares' && (
          <>
            <Text size="sm" c="dimmed">
              {t('Each share is a page for another person or place. Too few shares reveal nothing.')}
            </Text>
            <Group gap="md" align="start" grow preventGrowOverflow={false}>
              <NumberInput
                label={t('Shares needed')}
                min={2}
                max={mostShares}
                allowDecimal={false}
                value={threshold}
                error={tried ? thresholdProblem : null}
                onChange={setThreshold}
              />
              <NumberInput
                label={t('Total shares')}
                min={2}
                max={mostShares}
                allowDecimal={false}
                value={count}
                error={tried ? countProblem : null}
                onChange={setCount}
              />
            </Group>
          </>
        )}
        <Failure title={t('Couldn’t create the sheet')} error={task.error} />
        <div>
          <Button type="submit" loading={task.isPending}>
            {form === 'phrase' ? t('Create sheet') : t('Create shares')}
          </Button>
        </div>
      </Stack>
    </form>
  );
}

function numberProblem(value: string | number, most: number): string | null {
  const least = 2;
  const number = Number(value);
  return value !== '' && Number.isInteger(number) && number >= least && number <= most
    ? null
    : t('Enter a number from {{least}} to {{most}}.', { least, most });
}

/** Sheets that can be printed without appearing on the screen. */
function Sheets({ sheets }: { readonly sheets: readonly Sheet[] }): ReactNode {
  const { shown, show, hide, ending } = useReveal(sheets);
  return (
    <Stack gap="md">
      <Text role="status">
        {sheets.length === 1
          ? t('The sheet is ready. Use a printer that you trust.')
          : t('{{count}} shares are ready, one per page. Use a printer that you trust.', {
              count: sheets.length,
            })}
      </Text>
      <Group gap="xs">
        <Button
          leftSection={<IconPrinter size={16} aria-hidden />}
          onClick={() => {
            printPage();
          }}
        >
          {t('Print')}
        </Button>
        {shown ? (
          <Button variant="default" leftSection={<IconEyeOff size={16} aria-hidden />} onClick={hide}>
            {t('Hide')}
          </Button>
        ) : (
          <HoldButton size="md" onHeld={show}>
            {t('Show on screen')}
          </HoldButton>
        )}
      </Group>
      {ending}
      {shown && sheets.map((sheet) => <Paper key={sheet.code} sheet={sheet} />)}
      {createPortal(
        <div className="kh-papers">
          {sheets.map((sheet) => (
            <Paper key={sheet.code} sheet={sheet} />
          ))}
        </div>,
        document.body,
      )}
    </Stack>
  );
}

function Paper({ sheet: { title, secret, code, facts, how } }: { readonly sheet: Sheet }): ReactNode {
  return (
    <section className="kh-paper" aria-label={title}>
      <Title order={2}>{title}</Title>
      <Facts rows={facts} />
      {secret.kind === 'phrase' ? (
        <ol className="kh-paper-words">
          {secret.words.map((word, index) => (
            <li key={index}>
              <span>{index + 1}</span> <b>{word}</b>
            </li>
          ))}
        </ol>
      ) : (
        <p className="kh-paper-share">
          <Grouped text={secret.text} />
        </p>
      )}
      <div className="kh-paper-code">
        <QrCode text={code} label={t('QR code: {{title}}', { title })} />
      </div>
      {how.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </section>
  );
}

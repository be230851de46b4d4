import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Select, Stack, Text, Textarea } from '@mantine/core';
import { Link } from 'wouter';
import { Failure } from '../../ui/feedback.tsx';
import { t, Trans } from '../../app/i18n/text.ts';
import { TypedSummary } from './transaction-summary.tsx';
import { Copyable } from '../../ui/copyable.tsx';
import { useSubmit } from '../../app/rpc/vault.tsx';
import { transactionTypeList } from '../../../main/lib/text/transaction-types.ts';

const chains = transactionTypeList.map(({ type, chain, form, curve }) => ({
  value: type,
  label: `${chain} (${form})`,
  curve,
}));

interface Props {
  /** Of the field, whose label is the form's. */
  readonly id: string;
  readonly signWith: string | undefined;
  readonly curve: string | undefined;
  /** Of the address that signs, where one does. */
  readonly format: string | undefined;
}

/** The chain of an address format; Ethereum's for a key that is of none. */
const usualOf = (format = '') =>
  chains.find(({ value }) => format.includes(value.replace('TRANSACTION_TYPE', '')))?.value ??
  ('TRANSACTION_TYPE_ETHEREUM' as const);

/** A transaction is pasted, shown in plain language, and signed. */
export function SignTransaction({ id, signWith, curve, format }: Props): ReactNode {
  const [typed, setTyped] = useState('');
  const [wanted, setWanted] = useState<string | null>(null);
  const submit = useSubmit('ACTIVITY_TYPE_SIGN_TRANSACTION_V2');
  const fitting = chains.filter((chain) => curve === undefined || chain.curve === curve);
  const type = [wanted, usualOf(format), fitting[0]?.value]
    .map((each) => fitting.find(({ value }) => value === each))
    .find((each) => each !== undefined)?.value;
  const hex = typed.replace(/\s+/g, '');
  const problem =
    hex !== '' && !/^(0x)?([0-9a-f]{2})+$/i.test(hex) ? t('Enter the transaction in hex.') : null;
  const request =
    signWith === undefined || type === undefined || hex === '' || problem !== null
      ? null
      : { signWith, unsignedTransaction: hex, type };
  return (
    <Stack gap="lg">
      <Textarea
        id={id}
        autosize
        minRows={4}
        maxRows={14}
        spellCheck={false}
        autoComplete="off"
        className="kh-mono-input"
        placeholder={t('Unsigned transaction in hex')}
        value={typed}
        error={problem}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          submit.reset();
        }}
      />
      <Select
        label={t('Chain')}
        data={fitting.map(({ value, label }) => ({ value, label }))}
        value={type ?? null}
        allowDeselect={false}
        onChange={setWanted}
      />
      {request !== null && <TypedSummary request={request} />}
      <Failure title={t('Nothing was signed')} error={submit.error} />
      <div>
        <Button
          loading={submit.isPending}
          disabled={request === null}
          onClick={() => {
            if (request !== null) submit.mutate(request);
          }}
        >
          {t('Sign transaction')}
        </Button>
      </div>
      {submit.data !== undefined && (
        <section aria-label={t('Signed transaction')}>
          <Text size="sm" c="dimmed">
            <Trans
              i18nKey="Signed. <a>Open in the log</a>"
              components={{ a: <Link href={`/activity/${submit.data.activity.id}`} className="kh-link" /> }}
            />
          </Text>
          <Copyable text={submit.data.result.signedTransaction} copy={t('Copy signed transaction')} />
        </section>
      )}
    </Stack>
  );
}

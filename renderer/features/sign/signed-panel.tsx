/** A signature or a signed transaction, in the forms that other programs take. */

import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { IconDownload, IconQrcode } from '@tabler/icons-react';
import { Link } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import type { SignedTransactionType } from '../../../main/lib/text/transaction-types.ts';
import { saveByLink } from '../../app/rpc/growing-file.ts';
import { t } from '../../app/i18n/text.ts';
import { Copyable } from '../../ui/copyable.tsx';
import { Facts } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { fromHex } from '../../ui/text/bytes.ts';
import { ethereumSignature, hasRecoveryId, joinSignature } from './payload.ts';
import type { Signature } from './payload.ts';
import type { Signer } from './signer-choice.tsx';

/** A result, and the key that signed. */
export type Signed = { readonly activityId: string; readonly signer: Signer } & (
  | { readonly signature: Signature }
  | { readonly type: SignedTransactionType | 'TRANSACTION_TYPE_TEMPO'; readonly signedTransaction: string }
);

/** The longest text that a QR code of this size shows readably. */
const longestInQr = 1_200;

export function SignedPanel({ signed }: { readonly signed: Signed }): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    heading.current?.closest('section')?.scrollIntoView({ block: 'nearest' });
  }, []);
  const { hex, file } = outcomeOf(signed);
  const forms = formsOf(hex);
  const [form, setForm] = useState<keyof typeof forms>('prefixed');
  const [isQr, setQr] = useState(false);
  const text = forms[form];
  const save = () => {
    const address = URL.createObjectURL(new Blob([file.isBinary ? fromHex(hex) : text]));
    saveByLink(address, file.name);
    setTimeout(() => {
      URL.revokeObjectURL(address);
    }, 60_000);
  };
  return (
    <section className="kh-panel" aria-labelledby="signed">
      <div className="kh-panel-head">
        <Title order={2} id="signed" ref={heading} tabIndex={-1}>
          {t('Signed')}
        </Title>
        <Link href={`/activity/${signed.activityId}`} className="kh-link">
          {t('Open in the log')}
        </Link>
      </div>
      <Stack className="kh-panel-body" gap="md">
        <Text size="sm" c="dimmed">
          {t('With {{name}}.', { name: visibleName(signed.signer.name) })}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={t('Result format')}
          value={form}
          onChange={setForm}
          data={[
            { value: 'prefixed', label: t('0x hex') },
            { value: 'hex', label: t('Hex') },
            { value: 'text', label: t('Base64 text') },
          ]}
        />
        <div className="kh-result">
          <Copyable
            text={text}
            copy={'signature' in signed ? t('Copy signature') : t('Copy signed transaction')}
          />
        </div>
        <Group gap="sm">
          <Button
            variant="default"
            size="xs"
            aria-expanded={isQr}
            leftSection={<IconQrcode size={14} aria-hidden />}
            onClick={() => {
              setQr(!isQr);
            }}
          >
            {isQr ? t('Hide QR code') : t('Show QR code')}
          </Button>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconDownload size={14} aria-hidden />}
            onClick={save}
          >
            {t('Save file')}
          </Button>
        </Group>
        {isQr &&
          (text.length <= longestInQr ? (
            <QrCode text={text} label={t('QR code of the result')} />
          ) : (
            <Text size="sm">{t('The result is too long for a QR code. Save the file.')}</Text>
          ))}
        {'signature' in signed && (
          <Facts
            rows={(['r', 's', 'v'] as const).map((part) => [
              part,
              <Copyable key={part} text={signed.signature[part]} copy={t('Copy {{part}}', { part })} />,
            ])}
          />
        )}
      </Stack>
    </section>
  );
}

interface Result {
  /** Hex without prefix. */
  readonly hex: string;
  readonly file: { readonly name: string; readonly isBinary: boolean };
}

function outcomeOf(signed: Signed): Result {
  if ('signature' in signed) {
    const { signature, signer } = signed;
    const hex = signer.isEthereum
      ? ethereumSignature(signature).slice(2)
      : joinSignature(signature, hasRecoveryId(signer.curve, signer.schnorr));
    return { hex, file: { name: 'signature.txt', isBinary: false } };
  }
  const isPsbt = signed.type === 'TRANSACTION_TYPE_BITCOIN';
  return {
    hex: signed.signedTransaction,
    file: { name: isPsbt ? 'signed.psbt' : 'signed-transaction.txt', isBinary: isPsbt },
  };
}

const formsOf = (hex: string) => ({
  prefixed: `0x${hex}`,
  hex,
  text: btoa(Array.from(fromHex(hex), (byte) => String.fromCharCode(byte)).join('')),
});

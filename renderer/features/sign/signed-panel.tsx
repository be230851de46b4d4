/** A signature, with what it is of. */

import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { Facts } from '../../ui/page.tsx';
import { ethereumSignature, hasRecoveryId, joinSignature } from './payload.ts';
import type { Signature } from './payload.ts';
import { shorten } from '../../ui/text/short.ts';
import { t } from '../../app/i18n/text.ts';
import type { Signer } from './signer-choice.tsx';
import { Copyable } from '../../ui/copyable.tsx';

/** A signature with what it is of: the form may have moved on since. */
export interface Signed {
  readonly signature: Signature;
  readonly signer: Signer;
  readonly bytes: number;
  readonly digest: string | null;
  readonly activityId: string;
}

export function SignedPanel({ signed }: { readonly signed: Signed }): ReactNode {
  const { signature, signer, bytes, digest, activityId } = signed;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    heading.current?.closest('section')?.scrollIntoView({ block: 'nearest' });
  }, []);
  const withRecoveryId = hasRecoveryId(signer.curve, signer.schnorr);
  const joined = joinSignature(signature, withRecoveryId);
  return (
    <section className="kh-panel" aria-labelledby="signed">
      <div className="kh-panel-head">
        <Title order={2} id="signed" ref={heading} tabIndex={-1}>
          {t('Signed')}
        </Title>
        <Link href={`/activity/${activityId}`} className="kh-link">
          {t('Open in the log')}
        </Link>
      </div>
      <div className="kh-panel-body">
        <Text size="sm" c="dimmed" mb="md">
          {digest === null
            ? t('{{count}} bytes, with {{name}}.', { count: bytes, name: signer.name })
            : t('{{count}} bytes, with {{name}}, as the hash {{digest}}.', {
                count: bytes,
                name: signer.name,
                digest: shorten(digest),
              })}
        </Text>
        <Facts
          rows={[
            [
              withRecoveryId ? t('Signature (r, s, v)') : t('Signature (r, s)'),
              <Copyable key="joined" text={joined} copy={t('Copy signature')} />,
            ],
            ...(signer.isEthereum
              ? ([
                  [
                    t('For Ethereum (v from 27)'),
                    <Copyable
                      key="ethereum"
                      text={ethereumSignature(signature)}
                      copy={t('Copy Ethereum signature')}
                    />,
                  ],
                ] as const)
              : []),
            ['r', <Copyable key="r" text={signature.r} copy={t('Copy r')} />],
            ['s', <Copyable key="s" text={signature.s} copy={t('Copy s')} />],
            ['v', <Copyable key="v" text={signature.v} copy={t('Copy v')} />],
          ]}
        />
      </div>
    </section>
  );
}

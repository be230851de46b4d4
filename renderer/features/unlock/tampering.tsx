/** The screen of a vault whose file was changed outside Keyhearth: the findings, and the two next steps. */

import type { ReactNode } from 'react';
import { Alert, Code } from '@mantine/core';
import { IconShieldX } from '@tabler/icons-react';
import type { RowFinding, VaultStatus } from '../../../preload/contract.ts';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import './tampering.css';

const shown = 5;

export function Tampering({ tampering }: { readonly tampering: VaultStatus['tampering'] }): ReactNode {
  if (tampering === null) return null;
  const first = tampering.findings.slice(0, shown);
  const more = tampering.total - first.length;
  return (
    <Alert
      color="red"
      variant="light"
      title={t('This vault’s file was changed outside Keyhearth')}
      icon={<IconShieldX aria-hidden />}
      className="kh-failure"
    >
      <p>{t('The vault stays locked, because its contents may be wrong. Found:')}</p>
      <ul className="kh-tampering">
        {first.map((finding, index) => (
          <Finding key={index} {...finding} />
        ))}
        {more > 0 && <li>{t('and {{more}} more', { more })}</li>}
      </ul>
      <p>
        {tampering.findings.some(({ damaged }) => damaged === true) ? (
          <Trans
            i18nKey="Part of the file is damaged. Restore a backup; <code>keyhearth doctor</code> lists the damage."
            components={{ code: <Code /> }}
          />
        ) : (
          <Trans
            i18nKey="Restore a backup. If you trust the change, quit Keyhearth, review it with <code>keyhearth doctor</code> and accept it with <code>keyhearth doctor --accept-changes</code>."
            components={{ code: <Code /> }}
          />
        )}
      </p>
    </Alert>
  );
}

const Finding = ({ table, row, problem }: RowFinding): ReactNode => (
  <li>
    <strong>{table}</strong>
    {row !== null && <span className="kh-mono"> {row}</span>}: {problem}
  </li>
);

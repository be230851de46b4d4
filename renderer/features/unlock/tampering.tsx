/** The screen of a vault whose file was changed outside Keyhearth: the findings, and the two next steps. */

import type { ReactNode } from 'react';
import { Alert, Code } from '@mantine/core';
import { IconShieldX } from '@tabler/icons-react';
import type { RowFinding, VaultStatus } from '../../../preload/contract.ts';
import { t, Trans } from '../../app/i18n/text.ts';
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
      <p>{t('It is not used, since what it says of keys, users or addresses may not be true. Found:')}</p>
      <ul className="kh-tampering">
        {first.map((finding, index) => (
          <Finding key={index} {...finding} />
        ))}
        {more > 0 && <li>{t('and {{more}} more', { more })}</li>}
      </ul>
      <p>
        {tampering.findings.some(({ damaged }) => damaged === true) ? (
          <Trans
            i18nKey="The disk spoiled a part of it. Restore a backup; <code>keyhearth doctor</code> names what is damaged."
            components={{ code: <Code /> }}
          />
        ) : (
          <Trans
            i18nKey="Restore a backup. Or stop Keyhearth, look at the whole list with <code>keyhearth doctor</code>, and if you know what changed the file and want it so, accept it with <code>keyhearth doctor --accept-changes</code>."
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

/** The keys that work in the vault, and what they do. */

import { Fragment } from 'react';
import type { ReactNode } from 'react';
import { Kbd } from '@mantine/core';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { modifierKey, paletteKeys } from './keys.ts';
import { t } from '../i18n/text.ts';
import './shortcuts.css';

const shortcuts: readonly (readonly [keys: readonly string[], does: string])[] = [
  [paletteKeys, t('Search and commands')],
  [[modifierKey, 'Z'], t('Undo the last action')],
  [['?'], t('This list')],
  [['Esc'], t('Close a dialog')],
  [['A', 'A'], t('Approve the open request')],
  [['D', 'D'], t('Reject the open request')],
  [['J'], t('Next request')],
  [['K'], t('Previous request')],
];

interface Props {
  readonly opened: boolean;
  readonly onClose: () => void;
}

export function Shortcuts({ opened, onClose }: Props): ReactNode {
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Keyboard shortcuts')} size="md">
      <dl className="kh-shortcuts">
        {shortcuts.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key, index) => (
                <Fragment key={key}>
                  {index > 0 && (keys[0] === modifierKey ? ' + ' : ' ')}
                  <Kbd>{key}</Kbd>
                </Fragment>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

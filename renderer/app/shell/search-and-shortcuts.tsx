/** Keyboard features of every screen of the vault: the palette, the list of shortcuts, and undoing. */

import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Kbd } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { FreezeDialog } from '../../features/unlock/freeze.tsx';
import { laterDialog } from '../later.tsx';
import { isTyping, paletteKeys } from './keys.ts';
import { singleKeysOn } from './single-keys.ts';
import { t } from '../i18n/text.ts';
import { undoNewest } from './undo.tsx';

const Palette = laterDialog(async () => (await import('./palette.tsx')).Palette);
const Shortcuts = laterDialog(async () => (await import('./shortcuts.tsx')).Shortcuts);

type Open = 'palette' | 'shortcuts' | 'freeze' | null;

/** The button that opens the palette, and what the keys open. */
export function SearchAndShortcuts(): ReactNode {
  const [open, setOpen] = useState<Open>(null);
  const openPalette = () => {
    setOpen('palette');
  };
  const close = () => {
    setOpen(null);
  };

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.repeat || event.altKey || event.isComposing) return;
      const key = event.key.toLowerCase();
      if (event.ctrlKey || event.metaKey) {
        if (key === 'k' && !event.shiftKey) {
          // Browsers have a search of their own behind it.
          event.preventDefault();
          setOpen((now) => (now === 'palette' ? null : 'palette'));
        } else if (key === 'z' && !event.shiftKey && !isTyping(event.target) && undoNewest()) {
          event.preventDefault();
        }
      } else if (key === '?' && singleKeysOn() && !isTyping(event.target)) {
        setOpen('shortcuts');
      }
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);

  return (
    <>
      <button
        type="button"
        className="kh-find"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={openPalette}
      >
        <IconSearch size={16} aria-hidden />
        <span>{t('Search')}</span>
        <span className="kh-find-keys" aria-hidden>
          {paletteKeys.map((key) => (
            <Kbd key={key} size="xs">
              {key}
            </Kbd>
          ))}
        </span>
      </button>
      <Palette
        opened={open === 'palette'}
        onClose={close}
        onHelp={() => {
          setOpen('shortcuts');
        }}
        onFreeze={() => {
          setOpen('freeze');
        }}
      />
      <FreezeDialog opened={open === 'freeze'} onClose={close} />
      <Shortcuts opened={open === 'shortcuts'} onClose={close} />
    </>
  );
}

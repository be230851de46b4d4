import { createContext, use, useCallback, useState } from 'react';
import type { ReactNode } from 'react';
import { Group, Stack, Text } from '@mantine/core';
import { describeFormat } from './chains.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Grouped } from '../../ui/identifier.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { t } from '../../app/i18n/text.ts';
import '../../ui/rows.css';
import '../../ui/buttons/small-buttons.css';

interface Props {
  readonly format: string;
  readonly address: string;
  /** The line under the address: its name, its path. */
  readonly detail: ReactNode;
  /** The address of the screen that signs with it. */
  readonly signHref?: string;
  /** The address of its details. */
  readonly detailsHref?: string;
}

/** Words for every address of a format. */
interface FormatWords {
  readonly label: string;
  readonly plate: string;
  readonly about: string;
  readonly name: string;
  readonly copy: string;
  readonly showQr: string;
  readonly details: string;
}

const known = new Map<string, FormatWords>();

function wordsFor(format: string): FormatWords {
  const before = known.get(format);
  if (before !== undefined) return before;
  const { label, plate, about } = describeFormat(format);
  const name = t('{{label}} address', { label });
  const words = {
    ...{ label, plate, about, name },
    copy: t('Copy {{label}} address', { label }),
    showQr: t('Show QR code of {{label}} address', { label }),
    details: t('Details of {{label}} address', { label }),
  };
  known.set(format, words);
  return words;
}

const words = { sign: t('Sign'), qr: t('Show QR code'), details: t('Details, export, delete') };

/**
 * One address with what one does with it: copy it, show it to a camera, sign with it. A wallet may have a hundred thousand of
 * them to scroll through, so it is of plain elements, and one dialog serves all.
 */
export function AddressRow({ format, address, detail, signHref, detailsHref }: Props): ReactNode {
  const { label, plate, copy, showQr, details } = wordsFor(format);
  const show = use(ShowAddress);
  const end = address.slice(-4);
  const named = (action: string) => t('{{action}}, ends in {{end}}', { action, end });
  return (
    <div className="kh-account">
      <span className="kh-plate" aria-hidden="true">
        {plate}
      </span>
      <div>
        <Grouped text={address} />
        <div className="kh-account-about">
          {label} · {detail}
        </div>
      </div>
      <div className="kh-account-actions">
        <CopyButton text={address} copy={named(copy)} />
        <button
          type="button"
          className="kh-icon-button"
          aria-label={named(showQr)}
          aria-haspopup="dialog"
          data-hint={words.qr}
          onClick={() => {
            show({ format, address });
          }}
        >
          <Icon of="qr" />
        </button>
        {/* Links of the router would each listen to the address. */}
        {signHref !== undefined && (
          <a className="kh-small-button" href={`#${signHref}`}>
            <Icon of="sign" />
            {words.sign}
          </a>
        )}
        {detailsHref !== undefined && (
          <a
            className="kh-icon-button"
            href={`#${detailsHref}`}
            aria-label={named(details)}
            data-hint={words.details}
          >
            <Icon of="more" />
          </a>
        )}
      </div>
    </div>
  );
}

interface ShownAddress {
  readonly format: string;
  readonly address: string;
}

const ShowAddress = createContext<(address: ShownAddress) => void>(() => undefined);

/** Shows an address of the rows inside it in a dialog: one for all, since a row goes when it is out of sight. */
export function AddressDialogs({ children }: { readonly children: ReactNode }): ReactNode {
  const [shown, setShown] = useState<ShownAddress | null>(null);
  const [opened, setOpened] = useState(false);
  const show = useCallback((address: ShownAddress) => {
    setShown(address);
    setOpened(true);
  }, []);
  return (
    <ShowAddress value={show}>
      {children}
      {/* Also while it is shut: it gives the focus back to where that was when it opened. */}
      <Dialog
        opened={opened}
        onClose={() => {
          setOpened(false);
        }}
        title={shown === null ? '' : wordsFor(shown.format).name}
        size="sm"
        centered
      >
        {shown !== null && <AddressCode {...shown} />}
      </Dialog>
    </ShowAddress>
  );
}

/** An address as a QR code, and what to compare it by. */
function AddressCode({ format, address }: ShownAddress): ReactNode {
  const { label, about } = wordsFor(format);
  return (
    <Stack align="center" gap="md">
      <QrCode text={address} label={t('QR code of {{address}}', { address })} />
      <Grouped text={address} />
      <Text size="sm" c="dimmed" ta="center">
        {t('{{value}}. Compare the first and last groups with the other side.', {
          value: about === '' ? label : about,
        })}
      </Text>
      <Group>
        <CopyButton
          text={address}
          copy={t('Copy address, ends in {{end}}', { end: address.slice(-4) })}
          wide
        />
      </Group>
    </Stack>
  );
}

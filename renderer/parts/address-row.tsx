import { useState } from 'react';
import type { ReactNode } from 'react';
import { ActionIcon, Button, Group, Modal, Stack, Text, Tooltip } from '@mantine/core';
import { IconDots, IconQrcode, IconSignature } from '@tabler/icons-react';
import { Link } from 'wouter';
import { describeFormat } from './chains.ts';
import { CopyButton } from './copy-button.tsx';
import { Grouped } from './identifier.tsx';
import { QrCode } from './qr-code.tsx';
import { t } from './text.ts';
import './rows.css';

interface Props {
  readonly format: string;
  readonly address: string;
  /** What is said under the address: its name, its path. */
  readonly detail: ReactNode;
  /** Where to sign with it. */
  readonly signHref?: string;
  /** Where the rest of it is. */
  readonly detailsHref?: string;
}

/** One address with what one does with it: copy it, show it to a camera, sign with it. */
export function AddressRow({ format, address, detail, signHref, detailsHref }: Props): ReactNode {
  const [shown, setShown] = useState(false);
  const { label, plate, about } = describeFormat(format);
  const name = t('{{label}} address', { label });
  return (
    <div className="lk-account">
      <span className="lk-plate" aria-hidden="true">
        {plate}
      </span>
      <div>
        <Grouped text={address} />
        <Text size="sm" c="dimmed">
          {label} · {detail}
        </Text>
      </div>
      <div className="lk-account-actions">
        <CopyButton text={address} copy={t('Copy {{label}} address', { label })} />
        <Tooltip label={t('Show QR code')}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="md"
            aria-label={t('Show QR code of {{name}}', { name })}
            onClick={() => {
              setShown(true);
            }}
          >
            <IconQrcode size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
        {signHref !== undefined && (
          <Button
            component={Link}
            href={signHref}
            variant="default"
            size="xs"
            flex="none"
            leftSection={<IconSignature size={15} aria-hidden />}
          >
            {t('Sign')}
          </Button>
        )}
        {detailsHref !== undefined && (
          <Tooltip label={t('Details, export, delete')}>
            <ActionIcon
              component={Link}
              href={detailsHref}
              variant="subtle"
              color="gray"
              size="md"
              aria-label={t('Details of {{name}}', { name })}
            >
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      <Modal
        opened={shown}
        onClose={() => {
          setShown(false);
        }}
        title={name}
        size="sm"
        centered
      >
        <Stack align="center" gap="md">
          <QrCode text={address} label={t('QR code of {{address}}', { address })} />
          <Grouped text={address} />
          <Text size="sm" c="dimmed" ta="center">
            {t('{{value}}. Compare the first and last groups with what the other side shows.', {
              value: about === '' ? label : about,
            })}
          </Text>
          <Group>
            <CopyButton text={address} copy={t('Copy address')} wide />
          </Group>
        </Stack>
      </Modal>
    </div>
  );
}

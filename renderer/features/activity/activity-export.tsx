import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDownload } from '@tabler/icons-react';
import type { WindowRpc } from '../../../preload/contract.ts';
import { GrowingFile, today } from '../../app/rpc/growing-file.ts';
import { Failure } from '../../ui/feedback.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { t } from '../../app/i18n/text.ts';
import type { ActivityFilter } from '../../ui/lists/use-long-list.ts';
import { queryApi, useRpc } from '../../app/rpc/vault.tsx';

const formats = {
  CSV: {
    label: t('CSV'),
    type: 'text/csv',
    before: '',
    between: '\r\n',
    after: '\r\n',
    end: 'csv',
  },
  JSON: {
    label: t('JSON, complete'),
    type: 'application/json',
    before: '[\n',
    between: ',\n',
    after: '\n]\n',
    end: 'json',
  },
} as const;
type Format = keyof typeof formats;

/** Exports the activities that a list shows to a file. */
export function ActivityExport({ filter }: { readonly filter: ActivityFilter }): ReactNode {
  const rpc = useRpc();
  const exporting = useAsyncAction();
  const [written, setWritten] = useState(0);
  const stopped = useRef(false);
  const save = (format: Format) => {
    stopped.current = false;
    setWritten(0);
    exporting.run(() => saveActivities(rpc, filter, format, setWritten, () => stopped.current));
  };
  return (
    <>
      {exporting.isPending ? (
        <Button
          variant="default"
          size="xs"
          onClick={() => {
            stopped.current = true;
          }}
        >
          {t('Stop ({{count}} saved)', { count: written })}
        </Button>
      ) : (
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" size="xs" leftSection={<IconDownload size={15} aria-hidden />}>
              {t('Save as…')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {(Object.keys(formats) as Format[]).map((format) => (
              <Menu.Item
                key={format}
                onClick={() => {
                  save(format);
                }}
              >
                {formats[format].label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <Failure title={t('Couldn’t save the activities')} error={exporting.error} />
    </>
  );
}

interface Part {
  readonly lines: readonly string[];
  readonly next?: number;
}

async function saveActivities(
  rpc: WindowRpc,
  filter: ActivityFilter,
  format: Format,
  onWritten: (count: number) => void,
  isStopped: () => boolean,
): Promise<void> {
  const { type, before, between, after, end } = formats[format];
  const file = new GrowingFile(type);
  file.add(before);
  let lines = 0;
  let from: number | undefined;
  do {
    const where = from === undefined ? {} : { before: from };
    const body = { ...filter, format, ...where };
    const part: Part = (await queryApi(rpc, 'export_activities', body)).export;
    if (isStopped()) return;
    for (const line of part.lines) file.add(lines++ === 0 ? line : between + line);
    onWritten(lines - (format === 'CSV' ? 1 : 0));
    from = part.next;
  } while (from !== undefined);
  file.add(lines === 0 ? after.trimStart() : after);
  const name = `keyhearth-activities-${today()}.${end}`;
  file.save(name);
  notifications.show({
    title: t('{{count}} activities saved', { count: format === 'CSV' ? lines - 1 : lines }),
    message: name,
  });
}

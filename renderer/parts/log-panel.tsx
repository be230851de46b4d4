import { useState } from 'react';
import type { ReactNode } from 'react';
import { Alert, Button, Group } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Bridge, LogCheck, LogHead, LogRange, LogState } from '../../preload/contract.ts';
import { ShortId } from './identifier.tsx';
import { Moment } from './moment.tsx';
import { Facts, Panel } from './page.tsx';
import { Failure } from './states.tsx';
import { useTask } from './task.ts';
import { exactTime, timestampOf } from './time.ts';
import { askKey, useBridge } from './vault.tsx';
import './states.css';

/** How many problems of a log are written out. */
const mostProblems = 10;

/** By this name it is asked again when an activity is added. */
const stateKey = askKey('activity_log', {});

/** The log as a whole: how much of it is signed, a check of all of it, and a copy to take away. */
export function LogPanel(): ReactNode {
  const bridge = useBridge();
  const client = useQueryClient();
  const { data: state, error } = useQuery({ queryKey: stateKey, queryFn: () => bridge.logState() });
  const [check, setCheck] = useState<LogCheck | null>(null);
  const checking = useTask();
  const exporting = useTask();
  if (state === undefined) {
    return <Failure title="The state of the log could not be read" error={error} />;
  }
  if (state.rows === 0) return null;
  return (
    <Panel title="The log as a whole">
      <Facts rows={factsOf(state)} />
      <Group gap="sm" mt="md">
        <Button
          variant="default"
          loading={checking.isPending}
          onClick={() => {
            setCheck(null);
            checking.run(async () => {
              setCheck(await bridge.checkLog());
            });
          }}
        >
          Check the log
        </Button>
        <Button
          variant="default"
          loading={exporting.isPending}
          onClick={() => {
            exporting.run(async () => {
              await saveLog(bridge);
              // It had the head signed.
              await client.invalidateQueries({ queryKey: stateKey });
            });
          }}
        >
          Export
        </Button>
      </Group>
      <Failure title="The log could not be checked" error={checking.error} />
      <Failure title="The log was not exported" error={exporting.error} />
      {check !== null && <Verdict check={check} />}
    </Panel>
  );
}

const factsOf = ({ rows, head, witness }: LogState): readonly (readonly [string, ReactNode])[] => [
  ['Entries', rows.toLocaleString('en')],
  ['Signed', head === null ? 'Nothing yet' : <Signed key="signed" head={head} rows={rows} />],
  ...(head === null
    ? []
    : ([
        ['To note down', <ShortId key="head" text={`${head.sequence}:${head.hash}`} what="signed head" />],
      ] as const)),
  ...(witness === null
    ? []
    : ([
        [
          'In the keychain',
          'sequence' in witness
            ? `Up to entry ${witness.sequence.toLocaleString('en')}`
            : `Not yet: ${witness.obstacle}`,
        ],
      ] as const)),
];

function Signed({ head, rows }: { readonly head: LogHead; readonly rows: number }): ReactNode {
  const left = rows - head.sequence;
  return (
    <>
      Up to entry {head.sequence.toLocaleString('en')}, <Moment at={timestampOf(head.signedAt)} />
      {left > 0 && `; ${left.toLocaleString('en')} since, signed within ten minutes`}
    </>
  );
}

function Verdict({ check }: { readonly check: LogCheck }): ReactNode {
  const { rows, signed, signedAt, findings, more } = check;
  if (findings.length === 0) {
    return (
      <Alert
        variant="light"
        mt="md"
        title="Nothing was changed"
        icon={<IconCircleCheck aria-hidden />}
        className="lk-fine"
      >
        {rows === 1
          ? 'The one entry is as it was written'
          : `Each of ${rows.toLocaleString('en')} entries is as it was written and follows the one before it`}
        {signedAt === null
          ? '. None is signed yet.'
          : `, up to entry ${signed.toLocaleString('en')}, which the vault signed on ${exactTime(signedAt)}.`}
      </Alert>
    );
  }
  const shown = findings.slice(0, mostProblems);
  const left = findings.length + more - shown.length;
  return (
    <Alert
      color="red"
      variant="light"
      mt="md"
      title="This log was changed, or is not whole"
      icon={<IconAlertTriangle aria-hidden />}
      className="lk-failure"
    >
      {shown.map(({ problem }, index) => (
        <p key={index}>{problem}</p>
      ))}
      {left > 0 && <p>and {left.toLocaleString('en')} more: `latchkey audit verify` lists them</p>}
    </Alert>
  );
}

/** Hands the whole log to the browser to save; Electron asks where to. */
async function saveLog(bridge: Bridge): Promise<void> {
  const parts: string[] = [];
  let range: LogRange | undefined;
  do {
    const part = await (range === undefined ? bridge.exportLog() : bridge.exportLog(range));
    parts.push(part.text);
    range = part.next ?? undefined;
  } while (range !== undefined);
  const address = URL.createObjectURL(new Blob(parts, { type: 'application/jsonl' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `latchkey-log-${new Date().toISOString().slice(0, 10)}.jsonl`;
  link.click();
  // The browser takes it in its own time.
  setTimeout(() => {
    URL.revokeObjectURL(address);
  }, 60_000);
}

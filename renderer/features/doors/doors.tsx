import type { ReactNode } from 'react';
import { Button, Group, Switch, Text } from '@mantine/core';
import { IconDoor } from '@tabler/icons-react';
import { Link } from 'wouter';
import type { DoorStatus } from '../../../preload/contract.ts';
import { doorKinds } from '../../../main/lib/policies/doors.ts';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { useDoors, useDoorsCall } from '../../app/rpc/vault.tsx';
import { DoorKeys } from './door-keys.tsx';
import { NewProgram } from './new-program.tsx';
import { Nodes } from './nodes.tsx';
import { Program } from './program.tsx';
import '../../ui/rows.css';

/** The protocols by which programs reach the vault beside the API, and the programs that may. */
export function Doors(): ReactNode {
  const { data, error, isPending, refetch } = useDoors();
  return (
    <>
      <PageHead
        title={t('Doors')}
        lead={t('Let programs sign by SSH and other protocols, within policies.')}
      />
      {isPending && <LoadingRows label={t('Loading the doors')} />}
      <Failure title={t('Couldn’t load the doors')} error={error} onRetry={() => void refetch()} />
      {data?.map((status) => (
        <Door key={status.door} of={status} />
      ))}
    </>
  );
}

function Door({ of: { door, on, problem, programs, nodes } }: { readonly of: DoorStatus }): ReactNode {
  const kind = doorKinds[door];
  const title = t(kind.words.title);
  const change = useDoorsCall();
  return (
    <Panel
      title={title}
      kind="plain"
      aside={
        <Switch
          label={on ? t('On') : t('Off')}
          aria-label={t('Door {{title}}', { title })}
          checked={on}
          disabled={change.isPending}
          onChange={(event) => {
            change.mutate({ change: 'switch', door, on: event.currentTarget.checked });
          }}
        />
      }
    >
      <div className="kh-row kh-manage">
        <div>
          <Text size="sm">{t(kind.words.about)}</Text>
          {kind.keyTag !== undefined && <DoorKeys.Names kind={kind} />}
          <Failure title={t('Couldn’t change the door')} error={change.error} />
          {problem !== null && <Failure title={t('This door lets nothing in')} error={new Error(problem)} />}
        </div>
        <Group gap="xs">
          {kind.keyTag !== undefined && (
            <DialogButton
              name={t('Keys…')}
              label={t('Keys of {{title}}…', { title })}
              title={t('Keys of {{title}}', { title })}
            >
              {(close) => <DoorKeys.Form kind={kind} close={close} />}
            </DialogButton>
          )}
          {kind.screen === undefined ? (
            <DialogButton
              name={t('Pair…')}
              label={t('Pair a program with {{title}}…', { title })}
              title={t('Pair a program')}
            >
              {(close) => <NewProgram door={door} taken={programs.map(({ name }) => name)} close={close} />}
            </DialogButton>
          ) : (
            <Button component={Link} href={kind.screen} variant="default" size="xs">
              {t('Open {{title}}', { title })}
            </Button>
          )}
        </Group>
      </div>
      {kind.hasNodes && <Nodes nodes={nodes} />}
      {programs.length === 0 ? (
        <Empty title={t('No programs yet')} icon={IconDoor} level={3}>
          <p>{t('Pair one for each purpose, to limit and revoke each.')}</p>
        </Empty>
      ) : (
        <ul className="kh-rows" aria-label={t('Programs of {{title}}', { title })}>
          {programs.map((program) => (
            // Another program may get the name while a dialog of this one is open.
            <Program key={program.publicKey} door={door} program={program} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

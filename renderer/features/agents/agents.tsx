import type { ReactNode } from 'react';
import { IconRobot } from '@tabler/icons-react';
import { Link } from 'wouter';
import { doorKinds } from '../../../main/lib/policies/doors.ts';
import { Copyable } from '../../ui/copyable.tsx';
import { DialogButton } from '../../ui/danger-zone.tsx';
import { Empty, Failure, LoadingRows } from '../../ui/feedback.tsx';
import { PageHead, Panel } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';
import { Trans } from '../../app/i18n/trans.ts';
import { useDoors } from '../../app/rpc/vault.tsx';
import { Agent } from './agent.tsx';
import { NewAgent } from './new-agent.tsx';

const { addedBy } = doorKinds.mcp;

/** AI agents that spend within budgets: what each may do, has spent and was refused. */
export function Agents(): ReactNode {
  const { data, error, isPending, refetch } = useDoors();
  const door = data?.find((each) => each.door === 'mcp');
  return (
    <>
      <PageHead
        title={t('Agents')}
        lead={t('AI agents pay and sign within budgets, and do nothing else.')}
        action={
          door !== undefined && (
            <DialogButton name={t('New agent…')} title={t('New agent')} wide>
              {(close) => <NewAgent taken={door.programs.map(({ name }) => name)} close={close} />}
            </DialogButton>
          )
        }
      />
      {isPending && <LoadingRows label={t('Loading the agents')} />}
      <Failure title={t('Couldn’t load the agents')} error={error} onRetry={() => void refetch()} />
      {door !== undefined && !door.on && door.programs.length > 0 && (
        <Panel kind="brass">
          <Trans
            i18nKey="Agents can’t reach the vault: switch their door on under <doors>Doors</doors>."
            components={{ doors: <Link href="/doors" className="kh-link" /> }}
          />
        </Panel>
      )}
      {door?.programs.length === 0 && (
        <Panel kind="plain">
          <Empty title={t('No agents yet')} icon={IconRobot}>
            <p>{t('Create one here, or with the command, which also configures its client.')}</p>
            <Copyable text={addedBy} copy={t('Copy command')} />
          </Empty>
        </Panel>
      )}
      {door?.programs.map((program) => (
        // Another agent may get the name while a dialog of this one is open.
        <Agent key={program.publicKey} program={program} />
      ))}
    </>
  );
}

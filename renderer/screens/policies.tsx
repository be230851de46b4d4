import type { ReactNode } from 'react';
import { Button, Group, Stack } from '@mantine/core';
import { IconListCheck, IconPlus } from '@tabler/icons-react';
import { Link } from 'wouter';
import { Moment } from '../parts/moment.tsx';
import { PageHead, Panel } from '../parts/page.tsx';
import { policyTemplates } from '../parts/policy-templates.ts';
import type { Policy } from '../parts/policies.ts';
import { Empty, Failure, LoadingRows } from '../parts/states.tsx';
import { useAsk } from '../parts/vault.tsx';
import '../parts/rows.css';
import '../parts/policy-editor.css';

/** All policies, and what one could begin with. */
export function Policies(): ReactNode {
  const { data, error, isPending, refetch } = useAsk<{ policies: readonly Policy[] }>('list_policies');
  const make = (
    <Button component={Link} href="/policies/new" leftSection={<IconPlus size={16} aria-hidden />}>
      New policy
    </Button>
  );
  return (
    <>
      <PageHead
        title="Policies"
        lead="Rules that let users do things, alone or together, and rules that forbid things. The root quorum is never held back; everybody else may do what some policy allows and none denies."
        action={
          <Group gap="sm">
            {data !== undefined && data.policies.length > 0 && make}
            <Button
              component={Link}
              href="/policies/permissions"
              variant="default"
              leftSection={<IconListCheck size={16} aria-hidden />}
            >
              Who may do what
            </Button>
          </Group>
        }
      />
      <Panel kind="plain">
        {isPending && <LoadingRows what="policies" />}
        <Failure title="The policies could not be read" error={error} onRetry={() => void refetch()} />
        {data?.policies.length === 0 && (
          <Empty title="No policy yet" action={make}>
            <p>
              Without a policy, users outside the root quorum may read, and change their own credentials. A
              policy lets a script sign with one wallet, sets a budget for it, or asks for a second person.
            </p>
            <p>Each is tried on what has happened before it is made.</p>
          </Empty>
        )}
        {data !== undefined && data.policies.length > 0 && (
          <ul className="lk-rows" aria-label="Policies">
            {data.policies.map((policy) => (
              <li key={policy.policyId}>
                <Link href={`/policies/${policy.policyId}`} className="lk-row">
                  <span style={{ minWidth: 0 }}>
                    <span className="lk-row-name">{policy.policyName}</span>{' '}
                    <span className="lk-badge">{policy.effect === 'EFFECT_DENY' ? 'Denies' : 'Allows'}</span>
                    <span className="lk-row-more lk-mono lk-excerpt">
                      {policy.condition === '' ? 'everything' : policy.condition}
                    </span>
                  </span>
                  <span className="lk-row-side">
                    Changed <Moment at={policy.updatedAt} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Panel title="Begin with one of these" kind="plain">
        <ul className="lk-rows" aria-label="Templates">
          {policyTemplates.map(({ id, title, about }) => (
            <li key={id}>
              <Link href={`/policies/new/${id}`} className="lk-row">
                <Stack gap={0}>
                  <span className="lk-row-name">{title}</span>
                  <span className="lk-row-more">{about}</span>
                </Stack>
              </Link>
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}

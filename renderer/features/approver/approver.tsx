/** The window of a person who is not the owner: approvals, what concerns the person in the log, and the person’s credentials. */

import { useEffect, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';
import { Button, Title } from '@mantine/core';
import { IconChecklist, IconFingerprint } from '@tabler/icons-react';
import { Link, Route, Router, Switch, useLocation } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { LoadBoundary } from '../../app/load-boundary.tsx';
import { NotFound } from '../../app/not-found.tsx';
import { useInsideNotices } from '../../app/inside-notices.ts';
import { OwnersWindow } from '../../app/owners-window.ts';
import { StatusProvider, useStatusQuery, VaultProvider } from '../../app/rpc/vault.tsx';
import { Mark } from '../../app/shell/mark.tsx';
import { SchemeSwitch } from '../../app/shell/scheme-switch.tsx';
import { t } from '../../app/i18n/text.ts';
import { AuthLayout } from '../../ui/auth-layout.tsx';
import { Empty, Failure } from '../../ui/feedback.tsx';
import { Expectations, PageHead, Panel, useScreenTitle } from '../../ui/page.tsx';
import { useAsyncAction } from '../../ui/use-async-action.ts';
import { Approvals } from '../approvals/approvals.tsx';
import { beginHolding } from '../approvals/held-votes.ts';
import { useAllWaiting } from '../approvals/waiting-approvals.ts';
import { OwnActivity } from './own-activity.tsx';
import { OwnCredentials } from './own-credentials.tsx';
import { signIn } from './approver-session.ts';
import type { ApproverSession } from './approver-session.ts';
import './approver.css';

export function Approver(): ReactNode {
  const [session, setSession] = useState<ApproverSession | null>(null);
  return session === null ? (
    <SignIn onSignedIn={setSession} />
  ) : (
    <SignedIn
      key={session.userId}
      session={session}
      onEnd={() => {
        setSession(null);
      }}
    />
  );
}

function SignIn({ onSignedIn }: { readonly onSignedIn: (session: ApproverSession) => void }): ReactNode {
  const heading = useScreenTitle(t('Sign in to approve'));
  const task = useAsyncAction();
  return (
    <AuthLayout latch="away" aside={<p>{t('Approvals for people other than the owner.')}</p>}>
      <Title order={1} ref={heading} tabIndex={-1}>
        {t('Sign in to approve')}
      </Title>
      <p className="kh-prose">{t('Use the passkey that the owner registered for you.')}</p>
      <Failure title={t('Not signed in')} error={task.error} />
      <Button
        mt="md"
        mb="lg"
        leftSection={<IconFingerprint size={16} aria-hidden />}
        loading={task.isPending}
        onClick={() => {
          task.run(async () => {
            onSignedIn(await signIn());
          });
        }}
      >
        {t('Sign in with passkey')}
      </Button>
      <Expectations
        title={t('In this window')}
        items={[
          t('You see requests that need your approval, your own activity and your credentials.'),
          t('Your passkey signs each approval and each rejection.'),
          t('You’re signed out after an hour, or when you close or reload the page.'),
        ]}
      />
    </AuthLayout>
  );
}

interface SignedInProps {
  readonly session: ApproverSession;
  readonly onEnd: () => void;
}

function SignedIn({ session, onEnd }: SignedInProps): ReactNode {
  const [connection] = useState(() => session.connection);
  const state = useSyncExternalStore(connection.onState, connection.state);
  return (
    <VaultProvider connection={connection}>
      {state === 'signed-out' ? (
        <SignedOut isPasskeyDeleted={session.isPasskeyDeleted} onEnd={onEnd} />
      ) : (
        <Frame session={session} />
      )}
    </VaultProvider>
  );
}

function SignedOut({
  isPasskeyDeleted,
  onEnd,
}: Pick<SignedInProps, 'onEnd'> & { readonly isPasskeyDeleted: boolean }): ReactNode {
  const heading = useScreenTitle(t('Signed out'));
  return (
    <AuthLayout latch="away" aside={<p>{t('Approvals for people other than the owner.')}</p>}>
      <Title order={1} ref={heading} tabIndex={-1}>
        {t('Signed out')}
      </Title>
      <p className="kh-prose">
        {isPasskeyDeleted
          ? t('Your passkey was deleted. Sign in with another, or ask the vault’s owner to register one.')
          : t('Sign in again to see what needs your approval.')}
      </p>
      <Button onClick={onEnd}>{t('Go to sign-in')}</Button>
    </AuthLayout>
  );
}

const places = [
  { to: '/', also: '/approvals', name: t('Approvals') },
  { to: '/activity', also: '/activity', name: t('Activity') },
  { to: '/credentials', also: '/credentials', name: t('Credentials') },
] as const;

function Frame({ session }: { readonly session: ApproverSession }): ReactNode {
  useInsideNotices();
  // A vote that is on its way is the person’s alone: the next person may vote on the same request.
  useEffect(() => beginHolding(), []);
  const { data: status } = useStatusQuery();
  if (status === undefined) return null;
  return (
    <StatusProvider value={status}>
      <OwnersWindow value={false}>
        <Router hook={useHashLocation}>
          <div className="kh-approver">
            <aside className="kh-approver-head" aria-label={t('Keyhearth')}>
              <div className="kh-brand">
                <Mark size={26} />
                <span>Keyhearth</span>
              </div>
              <Places />
              <div className="kh-approver-who">
                <span>{visibleName(session.userName)}</span>
                <SchemeSwitch />
                <Button variant="default" size="xs" onClick={() => void session.end()}>
                  {t('Sign out')}
                </Button>
              </div>
            </aside>
            <main className="kh-approver-main">
              <LoadBoundary>
                <Switch>
                  <Route path="/">
                    <Waiting activityId={undefined} />
                  </Route>
                  <Route path="/approvals/:activityId?">
                    {({ activityId }) => <Waiting activityId={activityId} />}
                  </Route>
                  <Route path="/activity" component={OwnActivity} />
                  <Route path="/credentials">
                    <OwnCredentials userId={session.userId} />
                  </Route>
                  <Route component={NotFound} />
                </Switch>
              </LoadBoundary>
            </main>
          </div>
        </Router>
      </OwnersWindow>
    </StatusProvider>
  );
}

function Places(): ReactNode {
  const [location] = useLocation();
  return (
    <nav aria-label={t('Approver')}>
      <ul className="kh-approver-places">
        {places.map(({ to, also, name }) => (
          <li key={to}>
            <Link href={to} aria-current={location === to || location.startsWith(also) ? 'page' : undefined}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The approvals of the owner’s window, over this person’s requests. */
function Waiting({ activityId }: { readonly activityId: string | undefined }): ReactNode {
  const waiting = useAllWaiting();
  if (activityId !== undefined || !waiting.isSuccess || waiting.list.length > 0) {
    return <Approvals activityId={activityId} />;
  }
  return (
    <>
      <PageHead title={t('Approvals')} />
      <Panel kind="plain">
        <Empty title={t('No pending requests')} icon={IconChecklist}>
          <p>{t('Requests that need your approval appear here.')}</p>
        </Empty>
      </Panel>
    </>
  );
}

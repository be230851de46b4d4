import { Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Loader, VisuallyHidden } from '@mantine/core';
import { Failure } from '../ui/feedback.tsx';
import { dropDrafts } from './kept-drafts.ts';
import { t } from './i18n/text.ts';
import { later, loadAllParts, useArrived } from './later.tsx';
import { LoadBoundary } from './load-boundary.tsx';
import { StatusProvider, useRpcState, useStatusQuery } from './rpc/vault.tsx';
import { SignedOut } from './signed-out.tsx';
import { Stopped } from './stopped.tsx';

// A load of the window shows one of the three.
const Unlock = later(async () => (await import('../features/unlock/unlock.tsx')).Unlock);
const OpenVault = later(async () => (await import('./open-vault.tsx')).OpenVault);
const FirstRun = later(async () => (await import('../features/first-run/first-run.tsx')).FirstRun);

export function Window(): ReactNode {
  const connection = useRpcState();
  const isSignedOut = connection === 'signed-out';
  useEffect(() => {
    if (isSignedOut) dropDrafts();
  }, [isSignedOut]);
  if (isSignedOut) return <SignedOut />;
  return (
    <>
      {connection === 'stopped' && <Stopped />}
      {/* Typed values stay in place until the service is back. */}
      <div hidden={connection === 'stopped'} className="kh-contents">
        <Vault />
      </div>
    </>
  );
}

function Vault(): ReactNode {
  const { data: status, error, refetch } = useStatusQuery();
  // The last step of the first run is shown when the vault is there already.
  const [creating, setCreating] = useState(false);
  const part =
    status === undefined
      ? null
      : creating || status.state === 'none'
        ? FirstRun
        : status.state === 'locked'
          ? Unlock
          : OpenVault;
  const isArrived = useArrived(part);
  const isFrozen = status !== undefined && status.frozen !== null;
  useEffect(() => {
    // It may come while the vault is locked already.
    if (isFrozen) dropDrafts();
  }, [isFrozen]);
  // The code of all other parts is fetched after this screen has appeared, so that navigation does not wait.
  useEffect(() => (isArrived ? loadAllParts() : undefined), [isArrived]);

  if (status === undefined) {
    if (error === null) return <Waiting />;
    return (
      <div className="kh-waiting">
        <Failure title={t('Couldn’t load the vault')} error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  return (
    <StatusProvider value={status}>
      <LoadBoundary>
        <Suspense fallback={<Waiting />}>{isArrived ? inside() : <Waiting />}</Suspense>
      </LoadBoundary>
    </StatusProvider>
  );

  function inside(): ReactNode {
    if (part === FirstRun) return <FirstRun onCreating={setCreating} />;
    return part === Unlock ? <Unlock /> : <OpenVault />;
  }
}

const Waiting = (): ReactNode => (
  <div className="kh-waiting">
    <div role="status">
      <Loader aria-hidden />
      <VisuallyHidden>{t('Loading the vault')}</VisuallyHidden>
    </div>
  </div>
);

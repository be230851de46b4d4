import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Text, VisuallyHidden } from '@mantine/core';
import {
  IconArchive,
  IconBuilding,
  IconChecklist,
  IconBuildingCommunity,
  IconDevices,
  IconHistory,
  IconKey,
  IconLock,
  IconLockAccess,
  IconMail,
  IconMenu2,
  IconPlugConnected,
  IconShieldCheck,
  IconSignature,
  IconTags,
  IconUsers,
  IconWallet,
  IconWebhook,
  IconX,
} from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { useWaiting } from './approvals.ts';
import { CopyButton } from './copy-button.tsx';
import { Latch, Mark } from './mark.tsx';
import { SchemeSwitch } from './scheme-switch.tsx';
import { useStatus, useStatusCall } from './vault.tsx';
import './shell.css';

const places = [
  { to: '/wallets', label: 'Wallets', icon: IconWallet },
  { to: '/private-keys', label: 'Private keys', icon: IconKey },
  { to: '/sign', label: 'Sign', icon: IconSignature },
  { to: '/approvals', label: 'Approvals', icon: IconChecklist },
  { to: '/activity', label: 'Activity', icon: IconHistory },
  { to: '/users', label: 'Users', icon: IconUsers },
  { to: '/sessions', label: 'Sessions', icon: IconDevices },
  { to: '/tags', label: 'Tags', icon: IconTags },
  { to: '/policies', label: 'Policies', icon: IconShieldCheck },
  { to: '/organization', label: 'Organization', icon: IconBuilding },
  { to: '/sub-organizations', label: 'Sub-organizations', icon: IconBuildingCommunity },
  { to: '/webhooks', label: 'Webhooks', icon: IconWebhook },
  { to: '/messages', label: 'Messages', icon: IconMail },
  { to: '/keyslots', label: 'Keys to the vault', icon: IconLockAccess },
  { to: '/backups', label: 'Backups', icon: IconArchive },
  { to: '/connect', label: 'Connect', icon: IconPlugConnected },
] as const;

/** The inside of the vault: where one can go, what state the door is in, and the screen itself. */
export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const [location] = useLocation();
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const sideId = useId();

  // On a narrow window the places cover the screen; having gone somewhere, one wants to see it.
  const [openedAt, setOpenedAt] = useState(location);
  if (open && openedAt !== location) setOpen(false);

  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setOpen(false);
    };
    window.addEventListener('keydown', close);
    return () => {
      window.removeEventListener('keydown', close);
    };
  }, [open]);

  return (
    <div className="lk-shell" data-open={open || undefined}>
      <a
        href="#main"
        className="lk-skip"
        onClick={(event) => {
          // The fragment is the window's address: the link moves the focus and nothing else.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to content
      </a>
      <aside className="lk-side" aria-label="Vault">
        <div className="lk-top">
          <div className="lk-brand">
            <Mark size={26} />
            <span>Latchkey</span>
          </div>
          <button
            type="button"
            className="lk-burger"
            aria-expanded={open}
            aria-controls={sideId}
            onClick={() => {
              setOpenedAt(location);
              setOpen(!open);
            }}
          >
            {open ? <IconX size={20} aria-hidden /> : <IconMenu2 size={20} aria-hidden />}
            Menu
          </button>
        </div>
        <div className="lk-side-body" id={sideId}>
          <VaultName />
          <nav aria-label="Places" className="lk-places">
            {places.map(({ to, label, icon: Icon }) => {
              const here = location === to || location.startsWith(`${to}/`);
              return (
                <Link key={to} href={to} className="lk-place" aria-current={here ? 'page' : undefined}>
                  <Icon size={18} aria-hidden />
                  {label}
                  {to === '/approvals' && <WaitingCount />}
                </Link>
              );
            })}
          </nav>
          <DoorState />
        </div>
      </aside>
      <main className="lk-main" id="main" ref={main} tabIndex={-1}>
        <div className="lk-main-body">{children}</div>
      </main>
    </div>
  );
}

/** How many activities need the owner's vote. */
function WaitingCount(): ReactNode {
  const needed = useWaiting().data?.activities.filter(({ canApprove }) => canApprove).length ?? 0;
  if (needed === 0) return null;
  return (
    <span className="lk-badge lk-place-count" data-tone="waiting">
      {needed}
      <VisuallyHidden> to vote on</VisuallyHidden>
    </span>
  );
}

function VaultName(): ReactNode {
  const { organization, owner } = useStatus();
  return (
    <div className="lk-vault">
      <span className="lk-vault-name">{organization?.name}</span>
      <span>{owner?.userName}</span>
    </div>
  );
}

function DoorState(): ReactNode {
  const { url, keyslots } = useStatus();
  const lock = useStatusCall((bridge) => bridge.lock());
  return (
    <div className="lk-state">
      <div className="lk-state-latch">
        <Latch position={lock.isPending ? 'shut' : 'open'} width={112} />
        <Text size="sm">
          Unlocked
          <span className="lk-state-note">Keys are in memory</span>
        </Text>
      </div>
      <Button
        fullWidth
        variant="default"
        leftSection={<IconLock size={16} aria-hidden />}
        loading={lock.isPending}
        disabled={keyslots.length === 0}
        title={keyslots.length === 0 ? 'This vault has nothing that could open it again.' : undefined}
        onClick={() => {
          lock.mutate(undefined);
        }}
      >
        Lock
      </Button>
      {lock.error !== null && (
        <Text size="sm" role="alert">
          {lock.error.message}
        </Text>
      )}
      <div className="lk-api">
        <span>
          API address
          <span className="lk-mono">{url}</span>
        </span>
        <CopyButton text={url} what="API address" />
      </div>
      <SchemeSwitch />
    </div>
  );
}

import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Text, VisuallyHidden } from '@mantine/core';
import { IconMenu2, IconX } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { visibleName } from '../../../main/lib/text/visible-text.ts';
import { readable } from '../../ui/text/readable.ts';
import { SearchAndShortcuts } from './search-and-shortcuts.tsx';
import { countedAs } from '../../../main/lib/web/needed-approvals.ts';
import { useNeeded } from '../../features/approvals/waiting-approvals.ts';
import { DelayedNotice } from './delayed.tsx';
import { FreezeButton } from '../../features/unlock/freeze.tsx';
import { Latch, Mark } from './mark.tsx';
import { isAt, navGroups } from './nav-items.ts';
import type { NavItem, NavGroup } from './nav-items.ts';
import { SchemeSwitch } from './scheme-switch.tsx';
import { StorageNotice, WordsNotice } from './storage.tsx';
import { t } from '../i18n/text.ts';
import { Trans } from '../i18n/trans.ts';
import { useStatus, useStatusCall } from '../rpc/vault.tsx';
import './shell.css';

/** The layout of the open vault: navigation, lock state, and the screen. */
export function Shell({ children }: { readonly children: ReactNode }): ReactNode {
  const [location] = useLocation();
  const [open, setOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const sideId = useId();

  // In a narrow window the navigation covers the screen, so it closes once a screen is chosen.
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
    <div className="kh-shell" data-open={open || undefined}>
      <a
        href="#main"
        className="kh-skip"
        onClick={(event) => {
          // The fragment is the window's address: the link moves the focus and nothing else.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t('Skip to content')}
      </a>
      <aside className="kh-side" aria-label={t('Vault')}>
        <div className="kh-top">
          <div className="kh-brand">
            <Mark size={26} />
            <span>Keyhearth</span>
          </div>
          <button
            type="button"
            className="kh-burger"
            aria-expanded={open}
            aria-controls={sideId}
            onClick={() => {
              setOpenedAt(location);
              setOpen(!open);
            }}
          >
            {open ? <IconX size={20} aria-hidden /> : <IconMenu2 size={20} aria-hidden />}
            {t('Menu')}
            {!open && <WaitingCount />}
          </button>
        </div>
        <div className="kh-side-body" id={sideId}>
          <VaultName />
          <SearchAndShortcuts />
          <nav aria-label={t('Main')} className="kh-nav">
            {navGroups.map((group) => (
              <Navigation key={group.label} group={group} location={location} />
            ))}
          </nav>
          <LockState />
        </div>
      </aside>
      <main className="kh-main" id="main" ref={main} tabIndex={-1}>
        <div className="kh-main-body">
          <StorageNotice />
          <WordsNotice />
          <DelayedNotice />
          {children}
        </div>
      </main>
    </div>
  );
}

function Navigation({
  group: { label, items: places },
  location,
}: {
  readonly group: NavGroup;
  readonly location: string;
}): ReactNode {
  const headId = useId();
  const links = places.map((item) => <NavLink key={item.to} item={item} here={isAt(location, item)} />);
  if (label === null) return links;
  return (
    <div role="group" aria-labelledby={headId} className="kh-nav-group">
      <span id={headId} className="kh-nav-head">
        {label}
      </span>
      {links}
    </div>
  );
}

function NavLink({ item, here }: { readonly item: NavItem; readonly here: boolean }): ReactNode {
  const { to, label, icon: Icon } = item;
  return (
    <Link href={to} className="kh-nav-item" aria-current={here ? 'page' : undefined}>
      <Icon size={18} aria-hidden />
      {label}
      {to === '/approvals' && <WaitingCount />}
    </Link>
  );
}

/** Number of activities that need the owner's vote. */
function WaitingCount(): ReactNode {
  const needed = useNeeded().data;
  if (needed === undefined || needed.activities.length === 0) return null;
  return (
    <span className="kh-badge kh-nav-count" data-tone="waiting">
      <Trans
        i18nKey="{{number}}<hidden> to approve</hidden>"
        values={{ number: countedAs(needed) }}
        components={{ hidden: <VisuallyHidden /> }}
      />
    </span>
  );
}

function VaultName(): ReactNode {
  const { organization, owner } = useStatus();
  return (
    <div className="kh-vault">
      <span className="kh-vault-name">{visibleName(organization?.name ?? '')}</span>{' '}
      <span>{visibleName(owner?.userName ?? '')}</span>
    </div>
  );
}

function LockState(): ReactNode {
  const { keyslots } = useStatus();
  const lock = useStatusCall((rpc) => rpc.lock());
  return (
    <div className="kh-state">
      <div className="kh-state-latch">
        <Latch position={lock.isPending ? 'shut' : 'open'} width={42} />
        <span>{t('Unlocked')}</span>
        <Button
          variant="default"
          size="xs"
          loading={lock.isPending}
          disabled={keyslots.length === 0}
          title={keyslots.length === 0 ? t('Add an unlock method first.') : undefined}
          onClick={() => {
            lock.mutate(undefined);
          }}
        >
          {t('Lock')}
        </Button>
      </div>
      {lock.error !== null && (
        <Text size="sm" role="alert">
          {visibleName(readable(lock.error))}
        </Text>
      )}
      <div className="kh-foot">
        <SchemeSwitch />
        <FreezeButton />
      </div>
    </div>
  );
}

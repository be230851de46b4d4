import { useEffect, useId, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { Button, Text, VisuallyHidden } from '@mantine/core';
import { IconMenu2, IconX } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { visibleName } from '../../main/lib/visible-text.ts';
import { SearchAndShortcuts } from './search-and-shortcuts.tsx';
import { useWaiting } from './approvals.ts';
import { DelayedNotice } from './delayed.tsx';
import { FreezeButton } from './freeze.tsx';
import { Latch, Mark } from './mark.tsx';
import { isAt, placeGroups } from './places.ts';
import type { Place, PlaceGroup } from './places.ts';
import { SchemeSwitch } from './scheme-switch.tsx';
import { StorageNotice, WordsNotice } from './storage.tsx';
import { t, Trans } from './text.ts';
import { useStatus, useStatusCall } from './vault.tsx';
import './shell.css';

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
        {t('Skip to content')}
      </a>
      <aside className="lk-side" aria-label={t('Vault')}>
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
            {t('Menu')}
          </button>
        </div>
        <div className="lk-side-body" id={sideId}>
          <VaultName />
          <SearchAndShortcuts />
          <nav aria-label={t('Places')} className="lk-places">
            {placeGroups.map((group) => (
              <Places key={group.label} group={group} location={location} />
            ))}
          </nav>
          <DoorState />
        </div>
      </aside>
      <main className="lk-main" id="main" ref={main} tabIndex={-1}>
        <div className="lk-main-body">
          <StorageNotice />
          <WordsNotice />
          <DelayedNotice />
          {children}
        </div>
      </main>
    </div>
  );
}

function Places({
  group: { label, places },
  location,
}: {
  readonly group: PlaceGroup;
  readonly location: string;
}): ReactNode {
  const headId = useId();
  const links = places.map((place) => (
    <PlaceLink key={place.to} place={place} here={isAt(location, place)} />
  ));
  if (label === null) return links;
  return (
    <div role="group" aria-labelledby={headId} className="lk-place-group">
      <span id={headId} className="lk-place-head">
        {label}
      </span>
      {links}
    </div>
  );
}

function PlaceLink({ place, here }: { readonly place: Place; readonly here: boolean }): ReactNode {
  const { to, label, icon: Icon } = place;
  return (
    <Link href={to} className="lk-place" aria-current={here ? 'page' : undefined}>
      <Icon size={18} aria-hidden />
      {label}
      {to === '/approvals' && <WaitingCount />}
    </Link>
  );
}

/** How many activities need the owner's vote. */
function WaitingCount(): ReactNode {
  const needed = useWaiting().data?.activities.filter(({ canApprove }) => canApprove).length ?? 0;
  if (needed === 0) return null;
  return (
    <span className="lk-badge lk-place-count" data-tone="waiting">
      <Trans
        i18nKey="{{count}}<hidden> to vote on</hidden>"
        count={needed}
        components={{ hidden: <VisuallyHidden /> }}
      />
    </span>
  );
}

function VaultName(): ReactNode {
  const { organization, owner } = useStatus();
  return (
    <div className="lk-vault">
      <span className="lk-vault-name">{visibleName(organization?.name ?? '')}</span>{' '}
      <span>{visibleName(owner?.userName ?? '')}</span>
    </div>
  );
}

function DoorState(): ReactNode {
  const { keyslots } = useStatus();
  const lock = useStatusCall((bridge) => bridge.lock());
  return (
    <div className="lk-state">
      <div className="lk-state-latch">
        <Latch position={lock.isPending ? 'shut' : 'open'} width={42} />
        <span>{t('Unlocked')}</span>
        <Button
          variant="default"
          size="xs"
          loading={lock.isPending}
          disabled={keyslots.length === 0}
          title={keyslots.length === 0 ? t('This vault has nothing that could open it again.') : undefined}
          onClick={() => {
            lock.mutate(undefined);
          }}
        >
          {t('Lock')}
        </Button>
      </div>
      {lock.error !== null && (
        <Text size="sm" role="alert">
          {visibleName(lock.error.message)}
        </Text>
      )}
      <div className="lk-foot">
        <SchemeSwitch />
        <FreezeButton />
      </div>
    </div>
  );
}

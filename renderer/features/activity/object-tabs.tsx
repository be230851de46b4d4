import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { t } from '../../app/i18n/text.ts';
import './object-tabs.css';

/** Leads from an object to its activity and back. @param of The address of the object's screen. */
export function ObjectTabs({ of }: { readonly of: string }): ReactNode {
  const [location] = useLocation();
  const places = [
    [of, t('Overview')],
    [`${of}/activity`, t('Activity')],
  ] as const;
  return (
    <nav className="kh-tabs" aria-label={t('Views')}>
      {places.map(([to, label]) => (
        <Link key={to} href={to} aria-current={location === to ? 'page' : undefined}>
          {label}
        </Link>
      ))}
    </nav>
  );
}

import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Title } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Link, useLocation } from 'wouter';
import { documentationUrl } from '../../docs/page-urls.ts';
import { visibleName } from '../../main/lib/text/visible-text.ts';
import { useFirstAnswers } from '../app/first-answers.ts';
import { t } from '../app/i18n/text.ts';
import { pagesUrl } from '../app/rpc/pages-url.ts';
import { useStatus } from '../app/rpc/vault.tsx';
import { documentationOf } from '../app/shell/nav-items.ts';
import { EmptyRows } from './feedback.tsx';
import './page.css';

interface HeadProps {
  readonly title: string;
  /** One or two sentences: what this screen is for. */
  readonly lead?: ReactNode;
  readonly back?: { readonly to: string; readonly label: string };
  readonly action?: ReactNode;
}

/**
 * The head of a screen. It names the document and takes the focus, so that a screen reader says where one is. What follows it
 * is shown once it is there.
 */
export function PageHead({ title, lead, back, action }: HeadProps): ReactNode {
  const heading = useScreenTitle(title);
  const isComplete = useFirstAnswers();
  return (
    <header className="kh-head" data-awaited={!isComplete || undefined}>
      {back !== undefined && (
        <Link href={back.to} className="kh-back">
          <IconArrowLeft size={16} aria-hidden /> {visibleName(back.label)}
        </Link>
      )}
      <div className="kh-head-row">
        <Title order={1} ref={heading} tabIndex={-1}>
          {visibleName(title)}
        </Title>
        {action}
      </div>
      <p className="kh-lead">
        {lead} <LearnMore />
      </p>
      {!isComplete && (
        <div className="kh-head-awaited">
          <div className="kh-loading" data-late>
            <EmptyRows count={3} />
          </div>
        </div>
      )}
    </header>
  );
}

/** Leads to the documentation of the screen. The desktop app opens the page in the person's own browser. */
function LearnMore(): ReactNode {
  const { url } = useStatus();
  const [location] = useLocation();
  return (
    <a
      href={documentationUrl(pagesUrl(url), documentationOf(location))}
      target="_blank"
      rel="noreferrer"
      className="kh-link kh-nowrap"
    >
      {t('Learn more')}
    </a>
  );
}

/** Names the document, and moves the focus to the heading when the screen, not merely its title, is new. */
export function useScreenTitle(title: string): React.RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${visibleName(title)} · Keyhearth`;
  }, [title]);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, []);
  return heading;
}

interface PanelProps {
  readonly title?: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
  /** `brass` for what needs care, `plain` without padding for lists. */
  readonly kind?: 'usual' | 'brass' | 'plain';
}

export function Panel({ title, aside, children, kind = 'usual' }: PanelProps): ReactNode {
  return (
    <section className="kh-panel" data-kind={kind}>
      {title !== undefined && (
        <div className="kh-panel-head">
          <Title order={2}>{visibleName(title)}</Title>
          {aside}
        </div>
      )}
      <div className="kh-panel-body">{children}</div>
    </section>
  );
}

interface PromiseProps {
  readonly title?: string;
  readonly items: readonly ReactNode[];
  readonly done?: boolean;
}

/**
 * Expected effects before an action, and results after it. Each form of the window shows them beside its
 * button.
 */
export function Expectations({
  title = t('What will happen'),
  items,
  done = false,
}: PromiseProps): ReactNode {
  return (
    <section className="kh-outcomes" data-done={done || undefined}>
      <Title order={2} className="kh-outcomes-title">
        {title}
      </Title>
      <ol>
        {items.map((item, index) => (
          <li key={index}>{item}</li>
        ))}
      </ol>
    </section>
  );
}

/** Facts as names and values. */
export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [name: string, value: ReactNode])[];
}): ReactNode {
  return (
    <dl className="kh-facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? visibleName(value) : value}</dd>
        </div>
      ))}
    </dl>
  );
}

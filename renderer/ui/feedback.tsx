/** The states every list and form shares: nothing yet, not here yet, and refused. */

import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Alert, Button, Skeleton, Stack, Title, VisuallyHidden } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Icon } from '@tabler/icons-react';
import { visibleName } from '../../main/lib/text/visible-text.ts';
import { readable } from './text/readable.ts';
import { expectAnswer } from '../app/first-answers.ts';
import { t } from '../app/i18n/text.ts';
import './feedback.css';

interface EmptyProps {
  readonly title: string;
  /** Explains the resource and its use. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
  /** The thing that is not there yet. */
  readonly icon?: Icon;
  /** The steps to get one. */
  readonly steps?: readonly ReactNode[];
  /** 3 in a panel that has a title of its own. */
  readonly level?: 2 | 3;
}

/** Nothing yet: what would be here, why one would want it, and the way to it. */
export function Empty({ title, children, action, icon: Picture, steps, level = 2 }: EmptyProps): ReactNode {
  return (
    <div className="kh-empty" data-pictured={Picture !== undefined || undefined}>
      {Picture !== undefined && (
        <span className="kh-empty-picture" aria-hidden>
          <Picture size={26} stroke={1.6} />
        </span>
      )}
      <div>
        <Title order={level}>{title}</Title>
        <div className="kh-empty-text">{children}</div>
        {steps !== undefined && (
          <ol className="kh-empty-steps">
            {steps.map((step, index) => (
              <li key={index}>{step}</li>
            ))}
          </ol>
        )}
        {action}
      </div>
    </div>
  );
}

export function LoadingRows({
  label,
  rows = 3,
  late = false,
}: {
  /** A whole sentence: `Loading the wallets`. */
  readonly label: string;
  readonly rows?: number;
  /** Shown only once it takes long enough to be noticed. */
  readonly late?: boolean;
}): ReactNode {
  useEffect(expectAnswer, []);
  return (
    <div className="kh-loading" role="status" data-late={late || undefined}>
      <VisuallyHidden>{label}</VisuallyHidden>
      <EmptyRows count={rows} />
    </div>
  );
}

/** The outline of rows to come, for the eye alone. */
export function EmptyRows({ count }: { readonly count: number }): ReactNode {
  return (
    <Stack gap="md" aria-hidden>
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} height={38} radius="md" className="kh-skeleton" />
      ))}
    </Stack>
  );
}

interface FailureProps {
  /** The failed action, for example "The wallets could not be read". */
  readonly title: string;
  readonly error: Error | null;
  readonly onRetry?: () => void;
}

/** A refusal: what did not happen, and why in the service's words. Announced when it appears. */
export function Failure({ title, error, onRetry }: FailureProps): ReactNode {
  const alert = useRef<HTMLDivElement>(null);
  useEffect(() => {
    alert.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  if (error === null) return null;
  return (
    <Alert
      color="red"
      variant="light"
      title={title}
      icon={<IconAlertTriangle aria-hidden />}
      className="kh-failure"
      ref={alert}
    >
      <p>{visibleName(readable(error))}</p>
      {onRetry !== undefined && (
        <Button size="xs" variant="default" onClick={onRetry}>
          {t('Retry')}
        </Button>
      )}
    </Alert>
  );
}

import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { ActionIcon, Button, Tooltip, VisuallyHidden } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { t } from './text.ts';
import { useBridge } from './vault.tsx';

/** How long a copy is confirmed, in milliseconds. */
const confirmed = 1_800;

type Outcome =
  | { readonly state: 'idle' }
  | { readonly state: 'copied' }
  | { readonly state: 'failed'; readonly why: string };

interface Props {
  readonly text: string;
  /** The button's name, whole: `Copy address`. */
  readonly copy: string;
  /** Shows the words beside the icon. */
  readonly wide?: boolean;
  /** Whether it is taken off the clipboard again after half a minute. */
  readonly secret?: boolean;
}

/** Copies text, and says so to eyes and to a screen reader. */
export function CopyButton({ text, copy: name, wide = false, secret = false }: Props): ReactNode {
  const bridge = useBridge();
  const [outcome, setOutcome] = useState<Outcome>({ state: 'idle' });

  useEffect(() => {
    if (outcome.state === 'idle') return;
    const timer = setTimeout(() => {
      setOutcome({ state: 'idle' });
    }, confirmed);
    return () => {
      clearTimeout(timer);
    };
  }, [outcome]);

  const copy = () => {
    bridge.copy(text, { secret }).then(
      () => {
        setOutcome({ state: 'copied' });
      },
      (error: unknown) => {
        setOutcome({ state: 'failed', why: error instanceof Error ? error.message : t('Copying failed.') });
      },
    );
  };

  const said = outcome.state === 'failed' ? outcome.why : outcome.state === 'copied' ? t('Copied') : name;
  const icon =
    outcome.state === 'copied' ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />;
  return (
    <>
      {wide ? (
        <Button variant="default" size="xs" flex="none" leftSection={icon} onClick={copy}>
          {said}
        </Button>
      ) : (
        <Tooltip label={said}>
          <ActionIcon variant="subtle" color="gray" size="md" aria-label={name} onClick={copy}>
            {icon}
          </ActionIcon>
        </Tooltip>
      )}
      <VisuallyHidden role="status">{outcome.state === 'idle' ? '' : said}</VisuallyHidden>
    </>
  );
}

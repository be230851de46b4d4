import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { Icon } from './icon.tsx';
import { t } from '../app/i18n/text.ts';
import { useRpc } from '../app/rpc/vault.tsx';
import './buttons/small-buttons.css';

/** Milliseconds for which a copy is confirmed. */
const confirmed = 1_800;

type CopyState =
  | { readonly state: 'idle' }
  | { readonly state: 'copied' }
  | { readonly state: 'failed'; readonly why: string };

const idle: CopyState = { state: 'idle' };

interface Props {
  readonly text: string;
  /** The button's name, whole: `Copy address`. */
  readonly copy: string;
  /** Shows its name among other words. */
  readonly words?: boolean;
  /** Shows its name beside the icon, as a button of a form. */
  readonly wide?: boolean;
  /** Clears the clipboard after half a minute. */
  readonly secret?: boolean;
}

/** Copies text, and says so to eyes and to a screen reader. */
export function CopyButton({
  text,
  copy: name,
  words = false,
  wide = false,
  secret = false,
}: Props): ReactNode {
  const rpc = useRpc();
  const [outcome, setOutcome] = useState<CopyState>(idle);

  useEffect(() => {
    if (outcome.state === 'idle') return;
    const timer = setTimeout(() => {
      setOutcome(idle);
    }, confirmed);
    return () => {
      clearTimeout(timer);
    };
  }, [outcome]);

  const copy = () => {
    rpc.copy(text, { secret }).then(
      () => {
        setOutcome({ state: 'copied' });
      },
      (error: unknown) => {
        setOutcome({ state: 'failed', why: error instanceof Error ? error.message : t('Couldn’t copy') });
      },
    );
  };

  const said = outcome.state === 'failed' ? outcome.why : outcome.state === 'copied' ? t('Copied') : name;
  const icon = <Icon of={outcome.state === 'copied' ? 'done' : 'copy'} />;
  return (
    <>
      {wide ? (
        <Button variant="default" size="xs" flex="none" leftSection={icon} onClick={copy}>
          {said}
        </Button>
      ) : (
        <button
          type="button"
          className={words ? 'kh-copy-words' : 'kh-icon-button'}
          aria-label={name}
          data-hint={said}
          onClick={copy}
        >
          {icon}
          {words && name}
        </button>
      )}
      <span role="status" className="kh-unseen">
        {outcome.state === 'idle' ? '' : said}
      </span>
    </>
  );
}

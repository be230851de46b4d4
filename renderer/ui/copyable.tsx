import type { ReactNode } from 'react';
import { visibleName } from '../../main/lib/text/visible-text.ts';
import { CopyButton } from './copy-button.tsx';

interface Props {
  readonly text: string;
  /** Shown on the screen instead of the text. */
  readonly shown?: string;
  /** Names its button: `Copy public key`. */
  readonly copy: string;
  /** Clears the clipboard again. */
  readonly secret?: boolean;
}

/** A value that may be long, in full, with its copy button. */
export function Copyable({ text, shown = text, copy, secret = false }: Props): ReactNode {
  return (
    <span className="kh-value">
      <span className="kh-mono">{visibleName(shown)}</span>
      <CopyButton text={text} copy={copy} secret={secret} />
    </span>
  );
}

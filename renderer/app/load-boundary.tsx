import { Component } from 'react';
import type { ReactNode } from 'react';
import { Failure } from '../ui/feedback.tsx';
import { t } from './i18n/text.ts';

interface Props {
  /** The place that is shown: another one is tried again. */
  readonly at?: string;
  readonly children: ReactNode;
}

interface State {
  readonly error: Error | null;
}

/** Error boundary: shows a failure where a screen could not be shown, instead of an empty window. */
export class LoadBoundary extends Component<Props, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override componentDidUpdate({ at }: Props): void {
    if (at !== this.props.at && this.state.error !== null) this.setState({ error: null });
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <Failure
        title={t('Couldn’t show this screen')}
        error={this.state.error}
        onRetry={() => {
          // The browser remembers the failed import until the page is reloaded.
          window.location.reload();
        }}
      />
    );
  }
}

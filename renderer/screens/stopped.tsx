import type { ReactNode } from 'react';
import { Code, Loader, Text, Title } from '@mantine/core';
import { Outcomes, useScreenTitle } from '../parts/page.tsx';
import { Threshold } from '../parts/threshold.tsx';

/** The service does not answer. The window keeps trying by itself and goes on where it was. */
export function Stopped(): ReactNode {
  const heading = useScreenTitle('The service stopped');
  return (
    <div role="alert">
      <Threshold
        latch="away"
        door={
          <>
            <p>
              <strong>No answer.</strong>
            </p>
            <p className="lk-door-more">
              A service that is stopped has no key in memory: the vault is locked.
            </p>
          </>
        }
      >
        <Title order={1} ref={heading} tabIndex={-1}>
          Latchkey’s service stopped
        </Title>
        <p className="lk-prose">
          This window asks the service on this computer for everything it shows, and it does not answer. What
          was confirmed is kept. If you were waiting for an answer just now, look under Activity before you
          ask again.
        </p>
        <Outcomes
          title="What to do"
          items={[
            <>
              Start it again where you started it, for example with <Code>latchkey serve --ui</Code>.
            </>,
            'This window notices by itself and goes on. If it asks for a new link then, the service was started anew.',
          ]}
        />
        <Text size="sm" c="dimmed" mt="md" className="lk-trying">
          <Loader size={14} aria-hidden /> Trying again every few seconds
        </Text>
      </Threshold>
    </div>
  );
}

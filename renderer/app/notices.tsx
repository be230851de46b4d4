import type { ReactNode } from 'react';
import { Notifications } from '@mantine/notifications';
import { layers } from './layers.ts';

/** In its place in the page, where a narrow window shows it, and under dialogs, whose buttons it would cover. */
export const Notices = (): ReactNode => (
  <Notifications position="bottom-center" withinPortal={false} zIndex={layers.notifications} />
);

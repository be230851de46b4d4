import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { laterDialog } from '../../app/later.tsx';
import { beginAsking, useStepUpQuestion } from './step-up.ts';

const StepUpDialog = laterDialog(async () => (await import('./step-up-dialog.tsx')).StepUpDialog);

/** The step-up dialog, for every screen of the open vault. */
export function StepUp(): ReactNode {
  const question = useStepUpQuestion();
  useEffect(() => beginAsking(), []);
  return <StepUpDialog opened={question !== null} />;
}

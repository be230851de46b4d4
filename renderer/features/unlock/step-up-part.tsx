import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { laterDialog } from '../../app/later.tsx';
import { refuseStepUp, useStepUpQuestion } from './step-up.ts';

const StepUpDialog = laterDialog(async () => (await import('./step-up-dialog.tsx')).StepUpDialog);

/** The step-up dialog, for every screen of the open vault. */
export function StepUp(): ReactNode {
  const question = useStepUpQuestion();
  // If the vault is locked meanwhile, the dialog closes and the waiting calls are refused.
  useEffect(() => refuseStepUp, []);
  return <StepUpDialog opened={question !== null} />;
}

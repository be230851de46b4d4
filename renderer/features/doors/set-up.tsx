import type { ReactNode } from 'react';
import type { ProgramToSetUp } from '../../../main/lib/policies/door-kind.ts';
import { doorKinds, type DoorName } from '../../../main/lib/policies/doors.ts';
import { Copyable } from '../../ui/copyable.tsx';
import { Facts } from '../../ui/page.tsx';
import { t } from '../../app/i18n/text.ts';

/** The lines that set up a program. */
export function SetUp({
  door,
  program,
}: {
  readonly door: DoorName;
  readonly program: ProgramToSetUp;
}): ReactNode {
  const kind = doorKinds[door];
  return (
    <Facts
      rows={kind
        .setup(program)
        .map(({ what, text }) => [
          t(kind.words[what] ?? ''),
          <Copyable key={what} text={text} copy={t('Copy line')} secret={kind.endpoint !== undefined} />,
        ])}
    />
  );
}

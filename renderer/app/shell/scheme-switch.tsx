import type { ReactNode } from 'react';
import { SegmentedControl, VisuallyHidden, useMantineColorScheme } from '@mantine/core';
import type { MantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { t } from '../i18n/text.ts';

const choices: readonly { value: MantineColorScheme; name: string; icon: ReactNode }[] = [
  { value: 'auto', name: t('System'), icon: <IconDeviceDesktop size={15} aria-hidden /> },
  { value: 'light', name: t('Light'), icon: <IconSun size={15} aria-hidden /> },
  { value: 'dark', name: t('Dark'), icon: <IconMoon size={15} aria-hidden /> },
];

/** Light, dark, or as the system has it; remembered on this machine. */
export function SchemeSwitch({
  named = false,
}: {
  /** Writes the choices out; without it they are icons, for little room. */
  readonly named?: boolean;
}): ReactNode {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      size="xs"
      aria-label={t('Appearance')}
      value={colorScheme}
      onChange={setColorScheme}
      className="kh-scheme"
      data={choices.map(({ value, name, icon }) => ({
        value,
        label: (
          <span className="kh-scheme-choice" title={named ? undefined : name}>
            {icon}
            {named ? name : <VisuallyHidden>{name}</VisuallyHidden>}
          </span>
        ),
      }))}
    />
  );
}

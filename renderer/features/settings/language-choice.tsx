import type { ReactNode } from 'react';
import { NativeSelect } from '@mantine/core';
import { changeLanguage, language, languages } from '../../app/i18n/language.ts';
import { t } from '../../app/i18n/text.ts';
import { onText } from '../../ui/on-text.ts';

/** In which language the window speaks, in this browser. */
export function LanguageChoice(): ReactNode {
  // One that is for tests is listed where it is chosen.
  const offered = languages.includes(language) ? languages : [...languages, language];
  return (
    <NativeSelect
      label={t('Language')}
      description={t('The window reloads. Answers of the service stay in English.')}
      data={offered.map(({ code, name }) => ({ value: code, label: name }))}
      value={language.code}
      onChange={onText(changeLanguage)}
    />
  );
}

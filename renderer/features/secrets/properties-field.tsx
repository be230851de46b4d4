import type { ReactNode } from 'react';
import { Textarea } from '@mantine/core';
import { t } from '../../app/i18n/text.ts';
import { onText } from '../../ui/on-text.ts';

interface Property {
  readonly key: string;
  readonly value: string;
}

/** A line without an equals sign has no key. */
export function readProperties(text: string): readonly Property[] {
  return text.split('\n').flatMap((line) => {
    if (line.trim() === '') return [];
    const at = line.indexOf('=');
    const [key, value] = at === -1 ? ['', line] : [line.slice(0, at), line.slice(at + 1)];
    return [{ key: key.trim(), value: value.trim() }];
  });
}

/** Why properties cannot be stored; null when they can. */
export function propertiesProblem(text: string): string | null {
  const keys = readProperties(text).map(({ key }) => key);
  if (keys.includes('')) return t('Write each property as key=value, on a line of its own.');
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  return twice === undefined ? null : t('“{{key}}” is there twice.', { key: twice });
}

interface Props {
  readonly value: string;
  readonly onType: (value: string) => void;
}

export function PropertiesField({ value, onType }: Props): ReactNode {
  return (
    <Textarea
      label={t('Properties')}
      description={t('Optional. Policies can read them. One key=value on each line.')}
      placeholder="env=live"
      autosize
      minRows={1}
      maxRows={8}
      autoComplete="off"
      spellCheck={false}
      className="kh-mono-input"
      value={value}
      error={propertiesProblem(value)}
      onChange={onText(onType)}
    />
  );
}

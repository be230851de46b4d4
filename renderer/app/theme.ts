/** Mantine in Keyhearth's own colors: spruce, brass, and greys with a little spruce in them. */

import { createTheme } from '@mantine/core';
import type { CSSVariablesResolver } from '@mantine/core';
import { t } from './i18n/text.ts';

const sans =
  "system-ui, -apple-system, 'Segoe UI Variable Text', 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
const mono =
  "ui-monospace, 'SF Mono', 'Cascadia Mono', 'Segoe UI Mono', 'Roboto Mono', 'Liberation Mono', Menlo, monospace";

export const theme = createTheme({
  fontFamily: sans,
  fontFamilyMonospace: mono,
  headings: {
    fontFamily: sans,
    fontWeight: '650',
    textWrap: 'balance',
    sizes: {
      h1: { fontSize: '1.75rem', lineHeight: '1.2' },
      h2: { fontSize: '1.125rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  fontSizes: { xs: '0.8125rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  lineHeights: { xs: '1.4', sm: '1.5', md: '1.55', lg: '1.55', xl: '1.4' },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2.25rem' },
  radius: { xs: '2px', sm: '4px', md: '6px', lg: '10px', xl: '16px' },
  primaryColor: 'spruce',
  primaryShade: { light: 7, dark: 6 },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': t('Close') } } },
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': t('Close') } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': t('Close') } } },
    SegmentedControl: { defaultProps: { withItemsBorders: false } },
    // The options stand beside their field, inside the same dialog and landmark, and their list is what scrolls.
    Select: { defaultProps: { comboboxProps: { withinPortal: false }, withScrollArea: false } },
    Autocomplete: { defaultProps: { comboboxProps: { withinPortal: false }, withScrollArea: false } },
    // A list that scrolls is a stop of the Tab key to Chromium, and is gone as soon as its field loses the focus.
    ComboboxOptions: { defaultProps: { tabIndex: -1 } },
  },
  colors: {
    spruce: [
      '#eaf5f1',
      '#d0e7de',
      '#a6d1c2',
      '#7bbca6',
      '#55a58c',
      '#378c73',
      '#21705a',
      '#195c4a',
      '#134a3b',
      '#0d372c',
    ],
    brass: [
      '#fbf5e7',
      '#f5e8c9',
      '#ebd398',
      '#e0bd66',
      '#d2a743',
      '#b78a2b',
      '#92691a',
      '#755311',
      '#5b400c',
      '#422e08',
    ],
    red: [
      '#fdf0ee',
      '#f9d9d5',
      '#f2b0a9',
      '#ea897f',
      '#dd6156',
      '#cb4338',
      '#b23228',
      '#97271f',
      '#7a1f18',
      '#5c1711',
    ],
    gray: [
      '#f6f8f7',
      '#edf1ef',
      '#e1e7e4',
      '#d2dad6',
      '#b9c4bf',
      '#94a29c',
      '#6c7c75',
      '#505f59',
      '#35423d',
      '#1a2521',
    ],
    dark: [
      '#dde5e1',
      '#c3cec9',
      '#a5b3ad',
      '#7c8c85',
      '#3d4b46',
      '#2f3b37',
      '#222d29',
      '#18211e',
      '#111917',
      '#0b1110',
    ],
  },
});

/** Mantine's named roles, taken from the tokens in tokens.css so that there is one place to change them. */
export const variables: CSSVariablesResolver = () => {
  const shared = {
    '--mantine-color-body': 'var(--kh-surface)',
    '--mantine-color-text': 'var(--kh-ink)',
    '--mantine-color-dimmed': 'var(--kh-ink-soft)',
    '--mantine-color-placeholder': 'var(--kh-ink-faint)',
    '--mantine-color-error': 'var(--kh-danger)',
    '--mantine-color-anchor': 'var(--kh-link)',
    '--mantine-color-default': 'var(--kh-surface)',
    '--mantine-color-default-hover': 'var(--kh-sunken)',
    '--mantine-color-default-border': 'var(--kh-line-strong)',
  };
  return { variables: {}, light: shared, dark: shared };
};

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { setNonce } from 'get-nonce';
import './mantine.css';
import './window.css';
import { openDoor } from './bridge.ts';
import { Hints } from './parts/hints.tsx';
import { language } from './parts/language.ts';
import { layers } from './parts/layers.ts';
import { theme, variables } from './parts/theme.ts';
import { VaultProvider } from './parts/vault.tsx';
import { Window } from './window.tsx';

// The page's policy takes styles made at run time with this load's nonce only. Browsers hide the attribute's text from
// the document, not the property.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

document.documentElement.lang = language.code;

const place = document.getElementById('window');
if (place === null) throw new Error('index.html has no element with the id "window"');

createRoot(place).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'latchkey.appearance' })}
      getStyleNonce={() => nonce}
    >
      {/* In its place in the page, where a narrow window shows it, and under dialogs, whose buttons it would cover. */}
      <Notifications position="bottom-center" withinPortal={false} zIndex={layers.notifications} />
      <Hints />
      <VaultProvider door={openDoor()}>
        <Window />
      </VaultProvider>
    </MantineProvider>
  </StrictMode>,
);

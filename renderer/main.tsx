import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { setNonce } from 'get-nonce';
import './app/mantine.css';
import './app/tokens.css';
import './app/window.css';
import './app/forced-colors.css';
import { forgetSession } from './app/rpc/http-session.ts';
import { connectRpc } from './app/rpc/rpc.ts';
import { Tooltips } from './ui/tooltips.tsx';
import { language } from './app/i18n/language.ts';
import { keepFocus } from './app/keep-focus.ts';
import { layers } from './app/layers.ts';
import { theme, variables } from './app/theme.ts';
import { VaultProvider } from './app/rpc/vault.tsx';
import { Window } from './app/window.tsx';

// The page's policy takes styles made at run time with this load's nonce only. Browsers hide the attribute's text from
// the document, not the property.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
setNonce(nonce);

document.documentElement.lang = language.code;

/** The service serves the same page to approvers. Their window holds nothing of the owner’s. */
const isApprovers = window.keyhearth === undefined && window.location.pathname === '/approver';
if (isApprovers) forgetSession();
const Approver = lazy(async () => ({ default: (await import('./features/approver/approver.tsx')).Approver }));

const root = document.getElementById('window');
if (root === null) throw new Error('index.html has no element with the id "window"');

keepFocus();

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'keyhearth.appearance' })}
      getStyleNonce={() => nonce}
    >
      {/* In its place in the page, where a narrow window shows it, and under dialogs, whose buttons it would cover. */}
      <Notifications position="bottom-center" withinPortal={false} zIndex={layers.notifications} />
      <Tooltips />
      {isApprovers ? (
        <Suspense>
          <Approver />
        </Suspense>
      ) : (
        <VaultProvider connection={connectRpc()}>
          <Window />
        </VaultProvider>
      )}
    </MantineProvider>
  </StrictMode>,
);

import { lazy, StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core';
import { setNonce } from 'get-nonce';
import './app/mantine.css';
import './app/tokens.css';
import './app/window.css';
import './app/forced-colors.css';
import { forgetSession } from './app/rpc/http-session.ts';
import { connectRpc } from './app/rpc/rpc.ts';
import { LoadBoundary } from './app/load-boundary.tsx';
import { Tooltips } from './ui/tooltips.tsx';
import { language } from './app/i18n/language.ts';
import { ignoreHeldEnter } from './app/held-keys.ts';
import { keepFocus } from './app/keep-focus.ts';
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
/** Notices that are shown before the code is here wait for it. */
const Notices = lazy(async () => ({ default: (await import('./app/notices.tsx')).Notices }));

const root = document.getElementById('window');
if (root === null) throw new Error('index.html has no element with the id "window"');

keepFocus();
ignoreHeldEnter();

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      colorSchemeManager={localStorageColorSchemeManager({ key: 'keyhearth.appearance' })}
      getStyleNonce={() => nonce}
    >
      <LoadBoundary>
        <Suspense>
          <Notices />
        </Suspense>
      </LoadBoundary>
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

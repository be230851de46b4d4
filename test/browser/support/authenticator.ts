/** Virtual authenticators of Chromium, which agree to everything. */
import type { Page } from 'playwright-core';

/** @returns what adds one to a page, and removes one by its ID. */
export async function authenticatorsOf(page: Page) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  return {
    /** @param more Options of the protocol, in the place of what is usual. */
    async add(more: object = {}): Promise<string> {
      const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
          ...more,
        },
      });
      return authenticatorId;
    },
    async remove(authenticatorId: string): Promise<void> {
      await devtools.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
}

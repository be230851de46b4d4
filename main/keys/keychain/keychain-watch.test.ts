import { expect, test, vi } from 'vitest';
import type { KeychainState } from './keychain.ts';
import { KeychainWatch } from './keychain-watch.ts';

const absent = { available: false, reason: 'No keyring runs.' } as const;
const missing: KeychainState = { ...absent, quiet: true };
const locked: KeychainState = { available: false, reason: 'The keychain is locked.' };

function watchOver(states: KeychainState[], pauseMs = 0) {
  const probe = vi.fn(() => Promise.resolve(states.shift() ?? { available: true as const }));
  const onChange = vi.fn();
  return { probe, onChange, watch: new KeychainWatch({ keychain: { probe }, onChange, pauseMs }) };
}

test('asks one that works once', async () => {
  const { watch, probe, onChange } = watchOver([{ available: true }]);
  for (let time = 0; time < 3; time++) expect(await watch.state()).toEqual({ available: true });
  expect(probe).toHaveBeenCalledOnce();
  expect(onChange).not.toHaveBeenCalled();
});

test('asks one that is missing again, and tells when it is there', async () => {
  const { watch, onChange } = watchOver([missing, missing]);
  await vi.waitFor(async () => {
    await watch.state();
    expect(onChange).toHaveBeenCalledOnce();
  });
  expect(await watch.state()).toEqual({ available: true });
});

test('asks no more often than the interval allows', async () => {
  const { watch, probe } = watchOver([missing], 60_000);
  for (let time = 0; time < 3; time++) expect(await watch.state()).toEqual(absent);
  expect(probe).toHaveBeenCalledOnce();
});

test('asks one that was late again at once, and tells when it answers', async () => {
  const silent: KeychainState = { available: false, reason: 'It does not answer.', quiet: true };
  const probe = vi.fn(() => Promise.resolve({ available: true as const }));
  const isSilent = vi.fn(() => Promise.resolve(silent));
  const onChange = vi.fn();
  const keychain = { probe, isSilent };
  const watch = new KeychainWatch({ keychain, onChange, pauseMs: 60_000, listenMs: 0 });
  const { quiet: _, ...shown } = silent;
  expect(await watch.state()).toEqual(shown);
  await vi.waitFor(() => {
    expect(onChange).toHaveBeenCalledTimes(2);
  });
  isSilent.mockResolvedValue(undefined as never);
  expect(await watch.state()).toEqual({ available: true });
  expect(probe).toHaveBeenCalledTimes(2);
});

test('asks a locked keychain again only on demand', async () => {
  const { watch, probe } = watchOver([locked]);
  for (let time = 0; time < 3; time++) expect(await watch.state()).toEqual(locked);
  expect(probe).toHaveBeenCalledOnce();
  await watch.look();
  expect(await watch.state()).toEqual({ available: true });
});

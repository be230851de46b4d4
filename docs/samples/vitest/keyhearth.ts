// Starts a temporary vault for the whole run, and tells the tests where it is.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export async function setup(): Promise<() => Promise<void>> {
  // The vault holds on to its standard input: it ends with this process, however that ends.
  const argv = ['dev', '--port', '0', '--seed', 'vitest', '--stdin-lifetime'];
  const vault = spawn('keyhearth', argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  const line = await createInterface({ input: vault.stdout })[Symbol.asyncIterator]().next();
  if (line.done) throw new Error('keyhearth dev did not start');
  const { url, organizationId, signerPublicKey, apiPublicKey, apiPrivateKey } = JSON.parse(
    line.value,
  ) as Record<'url' | 'organizationId' | 'signerPublicKey' | 'apiPublicKey' | 'apiPrivateKey', string>;
  Object.assign(process.env, {
    KEYHEARTH_URL: url,
    KEYHEARTH_ORGANIZATION: organizationId,
    KEYHEARTH_SIGNER: signerPublicKey,
    KEYHEARTH_API_KEY: `${apiPublicKey}:${apiPrivateKey}`,
  });
  return async () => {
    vault.stdin.end();
    await once(vault, 'exit');
  };
}

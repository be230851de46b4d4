// Starts a temporary vault for the whole run, and tells the tests where it is.
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');

module.exports = async () => {
  // The vault holds on to its standard input: it ends with this process, however that ends.
  const argv = ['dev', '--port', '0', '--seed', 'jest', '--stdin-lifetime'];
  const vault = spawn('keyhearth', argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  const line = await createInterface({ input: vault.stdout })[Symbol.asyncIterator]().next();
  if (line.done) throw new Error('keyhearth dev did not start');
  const { url, organizationId, signerPublicKey, apiPublicKey, apiPrivateKey } = JSON.parse(line.value);
  Object.assign(process.env, {
    KEYHEARTH_URL: url,
    KEYHEARTH_ORGANIZATION: organizationId,
    KEYHEARTH_SIGNER: signerPublicKey,
    KEYHEARTH_API_KEY: `${apiPublicKey}:${apiPrivateKey}`,
  });
  globalThis.keyhearth = vault;
};

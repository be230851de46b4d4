/** What a script needs to get in, as text to paste. */

export interface Access {
  readonly url: string;
  readonly organizationId: string;
  readonly publicKey: string;
  readonly privateKey: string;
}

export const environmentLines = ({ url, organizationId, publicKey, privateKey }: Access): string =>
  [
    `BASE_URL=${url}`,
    `ORGANIZATION_ID=${organizationId}`,
    `API_PUBLIC_KEY=${publicKey}`,
    `API_PRIVATE_KEY=${privateKey}`,
  ].join('\n');

/** Runs as it stands with Node 24: `node --env-file=.env example.ts`. */
export const sdkExample = `// npm install @turnkey/sdk-server
// node --env-file=.env example.ts
import { Turnkey } from '@turnkey/sdk-server';

const turnkey = new Turnkey({
  apiBaseUrl: process.env.BASE_URL!,
  defaultOrganizationId: process.env.ORGANIZATION_ID!,
  apiPublicKey: process.env.API_PUBLIC_KEY!,
  apiPrivateKey: process.env.API_PRIVATE_KEY!,
});

const client = turnkey.apiClient();
console.log(await client.getWhoami());
console.log(await client.getWallets());
`;

export const commandLines = `latchkey keygen --name my-script --register
latchkey request --key my-script --path /public/v1/query/whoami --body '{}'
latchkey request --key my-script --path /public/v1/query/list_wallets --body '{}'
`;

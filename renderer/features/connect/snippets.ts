/** Access code for scripts, as text to paste. */

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

export const commandLines = `keyhearth bots add my-script --wallet Daily --budget "0.05 ETH/day"
keyhearth request --key my-script --path /public/v1/query/whoami --body '{}'
keyhearth request --key my-script --path /public/v1/query/list_wallets --body '{}'
`;

/** Every step of a stamp in the open, for programs in other languages. */
export const curlExample = String.raw`# bash example.sh
set -euo pipefail
source .env
body="{\"organizationId\":\"$ORGANIZATION_ID\"}"

# The private key, from hex to the form that OpenSSL reads
bytes() { printf "$(sed 's/../\\x&/g')"; }
key=$(printf '30310201010420%sa00a06082a8648ce3d030107' "$API_PRIVATE_KEY" | bytes | openssl base64)
pem="-----BEGIN EC PRIVATE KEY-----"$'\n'"$key"$'\n'"-----END EC PRIVATE KEY-----"

# The stamp: a signature over exactly the bytes of the body
signature=$(printf %s "$body" | openssl dgst -sha256 -sign <(printf '%s\n' "$pem") -hex | sed 's/.*= //')
stamp=$(printf '{"publicKey":"%s","scheme":"SIGNATURE_SCHEME_TK_API_P256","signature":"%s"}' \
  "$API_PUBLIC_KEY" "$signature" | openssl base64 -A | tr '+/' '-_' | tr -d '=')

curl --silent --show-error --fail-with-body "$BASE_URL/public/v1/query/whoami" \
  --header "Content-Type: application/json" --header @<(printf 'X-Stamp: %s' "$stamp") --data-binary "$body"
`;

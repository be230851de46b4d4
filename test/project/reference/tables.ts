/** Reference pages that are tables of the code: errors, exit codes, settings, limits, variables of the environment. */
import { exitCodeTexts } from '../../../main/commands/shared/output.ts';
import type { SettingName } from '../../../main/commands/settings/setting-names.ts';
import { defaultPort } from '../../../main/app/config.ts';
import { refusalTexts } from '../../../main/http/openapi/refusals.ts';
import { errorCodes, KeyhearthError, type ErrorCodeName } from '../../../main/lib/errors.ts';
import { publishedLimits, requestLimits } from '../../../main/lib/published-limits.ts';
import { stepUpRequired } from '../../../preload/contract.ts';
import { code, inText, pageText, table } from './markdown.ts';

const errorNames = Object.keys(errorCodes) as ErrorCodeName[];

/** Codes that say more than the error of their status, by how the code writes them. */
export const specificCodes: Readonly<Record<string, readonly [error: ErrorCodeName, text: string]>> = {
  API_KEY_EXPIRED: ['UNAUTHENTICATED', 'The API key has expired. Create a new one.'],
  CREDENTIAL_CONFLICT: [
    'UNAUTHENTICATED',
    'The key belongs to users of several sub-organizations. Name the organization in the body.',
  ],
  CREDENTIAL_NOT_FOUND: ['UNAUTHENTICATED', 'No user of the organization has this passkey.'],
  EMAIL_SENDING_DISABLED: ['FAILED_PRECONDITION', 'No mail server is set up.'],
  INVALID_OIDC_TOKEN: ['INVALID_ARGUMENT', 'The ID token is not valid. The message says why.'],
  INVALID_ORGANIZATION_ID: ['INVALID_ARGUMENT', '`organizationId` is not a UUID.'],
  INVALID_TIME: ['INVALID_ARGUMENT', 'The time of the request is too far from the time of the vault.'],
  INVALID_TRANSACTION: ['INVALID_ARGUMENT', 'The transaction cannot be read.'],
  MAX_OTP_INITIATED: ['INVALID_ARGUMENT', 'Too many one-time codes were requested for this contact.'],
  OAUTH_PROVIDER_ALREADY_EXISTS: ['ALREADY_EXISTS', 'Another user has this OAuth provider.'],
  ORGANIZATION_MISMATCH: [
    'INVALID_ARGUMENT',
    'The user belongs to the parent organization and may only read here.',
  ],
  PUBLIC_KEY_NOT_FOUND: ['UNAUTHENTICATED', 'No user of the organization has this API key.'],
  REQUEST_NOT_AUTHORIZED: [
    'PERMISSION_DENIED',
    'No policy allows the request, or this user may never do it.',
  ],
  SIGNATURE_INVALID: ['UNAUTHENTICATED', 'The stamp cannot be read, or does not fit the body.'],
  SIGNATURE_MISSING: ['UNAUTHENTICATED', 'The request has no stamp.'],
  [stepUpRequired]: [
    'PERMISSION_DENIED',
    'The request needs a secret of the owner, given in the window or the command.',
  ],
  UNSUPPORTED_TRANSACTION_TYPE: ['INVALID_ARGUMENT', 'The vault has no such chain.'],
  WALLET_ACCOUNT_NOT_EXPORTED: [
    'INVALID_ARGUMENT',
    'A wallet or key of the deletion was never exported. `deleteWithoutExport` deletes it anyway.',
  ],
};

export function errorsPage(): string {
  return pageText(
    'Error codes',
    'An error of the API is JSON with `code`, `message`, `details` and `turnkeyErrorCode`. `code` is a code of google.rpc.Code. A lasting refusal also leaves an activity with the status `ACTIVITY_STATUS_FAILED`. [Troubleshooting](../troubleshooting.md) says what to do.',
    '## By status',
    table(
      ['HTTP', '`code`', '`turnkeyErrorCode`', 'lasting', 'meaning'],
      errorNames.map((name) => {
        const { http, grpc, recorded } = errorCodes[name];
        const { turnkeyErrorCode } = new KeyhearthError(name, '');
        return [
          String(http),
          String(grpc),
          code(turnkeyErrorCode),
          recorded ? 'yes' : '',
          inText(refusalTexts[name].text),
        ];
      }),
    ),
    '## Codes that say more',
    'These stand in `turnkeyErrorCode` in place of the code above.',
    table(
      ['`turnkeyErrorCode`', 'HTTP', 'meaning'],
      Object.entries(specificCodes).map(([name, [error, text]]) => [
        code(name),
        String(errorCodes[error].http),
        inText(text),
      ]),
    ),
  );
}

export function exitCodesPage(): string {
  return pageText(
    'Exit codes',
    'The command ends with one of these codes. With `--json`, an error is also one line of JSON on standard error.',
    table(
      ['code', 'meaning'],
      Object.entries(exitCodeTexts).map(([number, text]) => [number, inText(text)]),
    ),
  );
}

const settingTexts: Readonly<Record<SettingName, readonly [values: string, usual: string, text: string]>> = {
  'autoLock.idleMinutes': ['1 to 1440, or `never`', '10', 'Lock after this many minutes without use.'],
  'autoLock.requestsKeepOpen': ['`on`, `off`', '`on`', 'Requests of the API count as use.'],
  'autoLock.onScreenLock': ['`on`, `off`', '`on`', 'Lock when the screen locks. Desktop app only.'],
  'autoLock.onSuspend': ['`on`, `off`', '`on`', 'Lock when the computer sleeps. Desktop app only.'],
  port: [`1024 to 65535, or \`usual\``, String(defaultPort), 'Port of the API, from the next start on.'],
  network: ['`on`, `off`', '`on`', 'Send mail, SMS and webhooks to other computers.'],
  limits: ['1 to 100', '1', 'Multiplies the [limits](limits.md) of an organization.'],
  startAtLogin: ['`on`, `off`', '`off`', 'Start the desktop app when you sign in. Desktop app only.'],
  updates: ['`off`, `ask`', '`off`', 'Look for updates, and ask before one is installed. Desktop app only.'],
};

export function settingsPage(): string {
  return pageText(
    'Settings',
    'Settings are part of the vault. Change them in the window under *Settings*, or with `keyhearth settings set NAME VALUE`, while the vault is unlocked.',
    table(
      ['name', 'values', 'default', 'meaning'],
      Object.entries(settingTexts).map(([name, cells]) => [code(name), ...cells]),
    ),
  );
}

const organizationLimits: Readonly<Record<keyof typeof publishedLimits, string>> = {
  usersPerOrganization: 'users of an organization',
  walletsPerOrganization: 'wallets of an organization',
  policiesPerOrganization: 'policies of an organization',
  policyCharactersPerOrganization: 'characters of all policies of an organization',
  tagsPerOrganization: 'tags of an organization',
  tagsPerWallet: 'tags of a wallet',
  tagsPerSubOrganization: 'tags of a sub-organization',
  privateKeysPerOrganization: 'private keys of an organization',
  secretsPerOrganization: 'secrets of an organization',
  sessionProfilesPerOrganization: 'session profiles of an organization',
  webhookEndpointsPerOrganization: 'webhook endpoints of an organization',
  interfacesPerOrganization: 'contract interfaces of an organization',
  knownAddressesPerOrganization: 'addresses with a name of an organization',
  longLivedApiKeysPerUser: 'API keys of a user that do not expire',
  expiringApiKeysPerUser: 'API keys of a user that expire',
  authenticatorsPerUser: 'passkeys of a user',
  oauthProvidersPerUser: 'OAuth providers of a user',
};

const limitsOfRequest: Readonly<Record<keyof typeof requestLimits, string>> = {
  values: 'JSON values in one request',
  elements: 'elements of one list, where the operation does not say fewer',
  payloadValues: 'JSON values in all payloads to sign of one request',
  payloadCharacters: 'characters in all payloads to sign of one request',
  credentials: 'API keys, passkeys and OAuth providers of all new users of one request',
  addresses: 'addresses of all new private keys of one request',
  secrets: 'secrets that one request imports, exports or deletes',
  secretBytes: 'bytes of one secret',
  secretBytesTogether: 'bytes of all secrets that one request exports',
};

export function limitsPage(): string {
  const rows = <Name extends string>(
    texts: Readonly<Record<Name, string>>,
    numbers: Readonly<Record<Name, number>>,
  ) => (Object.keys(texts) as Name[]).map((name) => [texts[name], numbers[name].toLocaleString('en-US')]);
  return pageText(
    'Limits of requests and organizations',
    '[Limits](../limits.md) says what else Keyhearth does not do.',
    '## Of an organization',
    'Beyond one of these the answer is `LIMIT_REACHED`. The setting `limits` multiplies them.',
    table(['of', 'at most'], rows(organizationLimits, publishedLimits)),
    '## Of a request',
    'No setting changes these.',
    table(['of', 'at most'], rows(limitsOfRequest, requestLimits)),
  );
}

/** Every variable that the code reads, by name. */
export const variableTexts: Readonly<Record<string, string>> = {
  KEYHEARTH_DATA_DIR: 'Directory of the vault, as `--data-dir`.',
  KEYHEARTH_CONFIG_DIR: 'Directory of the API key files, as `--config-dir`.',
  KEYHEARTH_PORT: 'Port of the API, as `--port`. 0 is any free port.',
  KEYHEARTH_RP_ID: 'Host name of passkeys, as `--rp-id`.',
  KEYHEARTH_URL: 'URL of the vault that commands use, as `--url`.',
  KEYHEARTH_ORGANIZATION: 'Organization of the vault at that URL, as `--organization-id`.',
  KEYHEARTH_SIGNER: 'Public key that the vault at that URL signs bundles of secrets with.',
  KEYHEARTH_API_KEY:
    'API key: the public half, a colon, the private half in hex, or the path of a file with the same. A secret.',
  KEYHEARTH_VAULT_FILE: 'File with the line of `keyhearth dev`, as `--vault-file`.',
  KEYHEARTH_ALLOW_HTTP: '1 allows requests to another computer without TLS, as `--allow-http`.',
  KEYHEARTH_LAUNCHER: 'Set by the launcher of the command: the process that the command ends with.',
  KEYHEARTH_LAUNCHED_AS: 'Set by the launcher of the command: the name that the command was typed with.',
  KEYHEARTH_UPDATE_KEY: 'For releases: the key that signs an update.',
};

export function environmentPage(): string {
  return pageText(
    'Environment variables',
    'An option of the command line wins over its variable. `keyhearth dev -- COMMAND` sets the variables of its vault for the command. Node’s and the system’s own variables, such as `NO_COLOR`, `XDG_DATA_HOME` and `DBUS_SESSION_BUS_ADDRESS`, have their usual meaning.',
    table(
      ['variable', 'meaning'],
      Object.entries(variableTexts).map(([name, text]) => [code(name), text]),
    ),
  );
}

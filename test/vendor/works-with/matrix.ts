/**
 * The vendor's packages that are run with Keyhearth, their versions and companions. The tests run each row;
 * the table of docs/works-with.md is written from the rows and their checks.
 */
import { programs } from './checks.ts';
import type { ProgramName } from './checks.ts';

export interface Row {
  /** The program of `programs/` that is run, and the package's name without its scope. */
  readonly program: ProgramName;
  readonly version: string;
  /** Packages beside it, as npm takes them. */
  readonly needs: readonly string[];
  /** A duty of its callers because of the package itself: a sentence, or nothing. */
  readonly mind: string;
  /** Steps of the program that this version has no method for. */
  readonly without: readonly string[];
  /** True for a dev dependency of Keyhearth, which `npm test` runs too. */
  readonly installed: boolean;
}

const packageOf = ({ program }: Row): string => `@turnkey/${program}`;

/** The packages to install with npm. */
export const packagesOf = (row: Row): readonly string[] => [`${packageOf(row)}@${row.version}`, ...row.needs];

export const nameOf = (row: Row): string => `${packageOf(row)} ${row.version}`;

const stamper = '@turnkey/api-key-stamper@0.6';
const client = '@turnkey/http@6';
const server = '@turnkey/sdk-server@8';

const row = (program: ProgramName, version: string, ...needs: readonly string[]): Row => ({
  program,
  version,
  needs,
  mind: '',
  without: [],
  installed: false,
});
const here = (program: ProgramName, version: string, ...needs: readonly string[]): Row => ({
  ...row(program, version, ...needs),
  installed: true,
});

export const rows: readonly Row[] = [
  here('http', '6.6.0', stamper),
  ...['5.0.0', '4.1.1', '3.18.1', '2.22.0'].map((version) => row('http', version, stamper)),
  { ...row('http', '1.3.0', stamper), without: ['getWalletAccounts'] },
  here('sdk-server', '8.2.1'),
  ...['7.0.0', '6.1.1', '5.3.0', '4.12.2', '3.3.1', '2.6.1'].map((version) => row('sdk-server', version)),
  {
    ...row('viem', '0.14.37', server, 'viem@2'),
    mind: 'List `EIP712Domain` among the types of typed data: viem sends an empty domain otherwise.',
  },
  row('ethers', '1.3.29', server, 'ethers@6'),
  row('solana', '1.1.37', server, '@solana/web3.js@1'),
  {
    ...row('cosmjs', '0.8.2', server, '@cosmjs/proto-signing@0.32'),
    mind: 'Sign by the uncompressed public key, or by a private key’s id.',
  },
  {
    ...row('eip-1193-provider', '3.0.3', '@turnkey/http@2.17.1', stamper),
    mind: '`personal_sign` signs a digest of 32 bytes, and adds no prefix.',
  },
  {
    ...row('core', '2.8.1'),
    mind: 'In Node, take its HTTP client, and a stamper of yours.',
  },
  {
    ...here('crypto', '2.13.2', client, stamper),
    mind: 'Give `dangerouslyOverrideSignerPublicKey`: the signer of `keyhearth status`.',
  },
  {
    ...here('webauthn-stamper', '0.6.0', client),
    mind: 'Runs in a browser. The tests stand in for its passkey.',
  },
];

/** The steps that a row's program reports, in order. */
export const stepsOf = ({ program, without }: Row): readonly string[] =>
  Object.keys(programs[program]).filter((step) => !without.includes(step));

/** Markdown: a line for each row. */
export function worksWithTable(): string {
  const code = (texts: readonly string[]): string => texts.map((text) => `\`${text}\``).join(', ');
  return [
    '| package | version | what is run | beside it | mind |',
    '|---|---|---|---|---|',
    ...rows.map((each) => {
      return `| \`${packageOf(each)}\` | ${each.version} | ${stepsOf(each).join(', ')} | ${code(each.needs)} | ${each.mind} |`;
    }),
  ].join('\n');
}

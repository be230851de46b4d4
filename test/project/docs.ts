// `npm run docs`: writes what docs/reference/compatibility.md says, between its two marks, from the operations themselves, the
// calls that the tests make with the vendor's SDKs, and the list of the real API's operations; and the table of
// docs/works-with.md, from the matrix of packages that the tests run. `--check` only compares, and looks whether the papers
// name what is there.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathOf } from '../../main/activities/define.ts';
import { operations } from '../../main/operations/index.ts';
import { sdkCalls } from '../vendor/sdk-calls.ts';
import { keptVendorOperations, taken } from '../vendor/vendor-operations.ts';
import { worksWithTable } from '../vendor/works-with/matrix.ts';
import { missingInProject } from './papers.ts';
import { commandPages, type WrittenPage } from './reference/commands.ts';
import { languagePages } from './reference/language.ts';
import { environmentPage, errorsPage, exitCodesPage, limitsPage, settingsPage } from './reference/tables.ts';

const projectRoot = join(import.meta.dirname, '../..');

/** The operations of the specification. */
export const specified: readonly string[] = [
  'submit/oauth',
  'submit/otp_auth',
  'submit/create_users',
  'submit/delete_users',
  'submit/delete_api_keys',
  'submit/create_authenticators',
  'submit/delete_authenticators',
  'query/list_users',
  'query/get_private_key',
  'submit/export_private_key',
  'submit/init_import_private_key',
  'submit/sign_raw_payload',
  'submit/update_private_key_tag',
  'submit/delete_private_key_tags',
  'query/get_wallet',
  'submit/import_wallet',
  'submit/delete_wallets',
  'query/get_policy',
  'submit/set_organization_feature',
  'submit/remove_organization_feature',
];

type Plan = 'next' | 'later' | 'never';

interface Part {
  readonly name: string;
  readonly plan: Plan;
  /** The operations of the part, by a pattern of their names; an operation without a part is next. */
  readonly has: RegExp;
}

/** The real API's parts beyond a vault's own operations, in the order in which they are looked through. */
const parts: readonly Part[] = [
  { name: 'invitations', plan: 'later', has: /invitation/ },
  { name: 'recovery of users', plan: 'later', has: /recover/ },
  { name: 'multi-factor policies', plan: 'later', has: /mfa/ },
  { name: 'IP allowlists', plan: 'later', has: /ip_allowlist/ },
  { name: 'webhook endpoints', plan: 'later', has: /webhook_endpoint/ },
  { name: 'velocity controls', plan: 'later', has: /velocity_control/ },
  { name: 'OAuth 2.0 credentials', plan: 'later', has: /oauth2/ },
  { name: 'proofs and mail events', plan: 'later', has: /proof|email_events/ },
  { name: 'Earn', plan: 'never', has: /earn/ },
  { name: 'Swap', plan: 'never', has: /swap/ },
  { name: 'fiat on-ramp', plan: 'never', has: /fiat_on_ramp|onramp/ },
  { name: 'verifiable cloud', plan: 'never', has: /tvc|get_app_status/ },
  { name: 'Spark', plan: 'never', has: /spark/ },
  {
    name: 'sending to chains and indexing them',
    plan: 'never',
    has: /(eth|sol)_send|undelegate|send_transaction|nonces|gas_usage|balances|supported_assets|transaction_history/,
  },
];

export const partOf = (path: string): Part | undefined => parts.find(({ has }) => has.test(path));

const count = (paths: readonly string[]): string =>
  paths.length === 1 ? '1 operation' : `${paths.length} operations`;

/** One line for each operation of ours, under the resource that it is about. */
function matrix(): string[] {
  const tried = new Map(sdkCalls.map(({ path, method }) => [path, method]));
  const rows = operations.groups.flatMap((group) =>
    group.operations.map((operation) => {
      const path = pathOf(operation);
      const types =
        operation.kind === 'query'
          ? '(a query)'
          : operation.versions.map(({ type }) => `\`${type.replace('ACTIVITY_TYPE_', '')}\``).join(', ');
      const method = tried.get(path);
      return [
        group.name,
        `\`${operation.path}\``,
        types,
        method === undefined ? (taken.has(path) ? 'none yet' : 'Keyhearth’s own') : `\`${method}\``,
      ];
    }),
  );
  return [
    '## Operations',
    '',
    '| about | operation | accepts `ACTIVITY_TYPE_…` | SDK method tried |',
    '|---|---|---|---|',
    ...rows.map(([resource = '', ...rest], index) => {
      const again = rows[index - 1]?.[0] === resource;
      return `| ${[again ? '' : resource, ...rest].join(' | ')} |`;
    }),
  ];
}

/** The operations of the real API that Keyhearth lacks, by plan. */
function missing(): string[] {
  const vendor = keptVendorOperations().operations.map(({ path }) => path);
  const left = vendor.filter((path) => !operations.byPath.has(path));
  const inPart = (part: Part | undefined): string[] => left.filter((path) => partOf(path) === part);
  const named = (plan: Plan): string =>
    parts
      .filter((part) => part.plan === plan && inPart(part).length > 0)
      .map((part) => `${part.name} (${inPart(part).length})`)
      .join(', ');
  const next = inPart(undefined).map((path) => `\`${path.split('/').at(-1) ?? ''}\``);
  const planned = (plan: Plan): string[] => left.filter((path) => (partOf(path)?.plan ?? 'next') === plan);
  return [
    ...(next.length > 0 ? [`- Planned next, ${count(planned('next'))}: ${next.join(', ')}.`] : []),
    `- Planned for later, ${count(planned('later'))}: ${named('later')}.`,
    `- Not planned, ${count(planned('never'))} of products that live on the vendor's servers: ${named('never')}.`,
  ];
}

/** @returns what stands between the marks. */
export function compatibility(): string {
  const { source, operations: vendor } = keptVendorOperations();
  const common = vendor.filter(({ path }) => operations.byPath.has(path));
  const there = specified.filter((path) => operations.byPath.has(path));
  const [vendorPackage = ''] = source.split(',');
  return [
    `Keyhearth has ${common.length} of the real API's ${vendor.length} operations (as ${vendorPackage} lists them), and ${there.length} of ${specified.length} in the specification`,
    'that it was built to. Each was called by the tests with the methods of @turnkey/http and @turnkey/sdk-server that are',
    'named here; older types are accepted under the same path.',
    '',
    ...matrix(),
    '',
    '## What is missing',
    '',
    'Every other operation answers 501.',
    '',
    ...missing(),
    '',
  ].join('\n');
}

/** A part of a paper that is written from the code, between marks of its name. */
interface Written {
  readonly paper: string;
  readonly mark: string;
  readonly content: () => string;
}

export const writtenParts: readonly Written[] = [
  { paper: 'docs/reference/compatibility.md', mark: 'compatibility', content: compatibility },
  { paper: 'docs/works-with.md', mark: 'works-with', content: worksWithTable },
];

/** @throws Error where the marks are not both there, in order. */
export function withWritten(text: string, { paper, mark, content }: Written): string {
  const [start, end] = [`<!-- ${mark}:start -->\n`, `<!-- ${mark}:end -->`];
  const [before, rest] = cut(paper, text, start);
  const [, after] = cut(paper, rest, end);
  return `${before}${start}\n${content()}\n${end}${after}`;
}

function cut(paper: string, text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`${paper} has no ${mark.trim()}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

/** Pages that are written from the code as a whole. */
export const writtenPages: readonly WrittenPage[] = [
  ...commandPages().pages,
  ...languagePages(),
  { path: 'reference/errors', title: 'Error codes', text: errorsPage() },
  { path: 'reference/exit-codes', title: 'Exit codes', text: exitCodesPage() },
  { path: 'reference/settings', title: 'Settings', text: settingsPage() },
  { path: 'reference/limits', title: 'Limits of requests and organizations', text: limitsPage() },
  { path: 'reference/environment', title: 'Environment variables', text: environmentPage() },
];

if (import.meta.main) {
  const problems: string[] = [];
  for (const { path, text } of writtenPages) {
    const file = join(projectRoot, 'docs', `${path}.md`);
    if (!process.argv.includes('--check')) writeFileSync(file, text);
    else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
      problems.push(`docs/${path}.md does not say what there is: run npm run docs`);
    }
  }
  for (const part of writtenParts) {
    const path = join(projectRoot, part.paper);
    const text = readFileSync(path, 'utf8');
    const wanted = withWritten(text, part);
    if (!process.argv.includes('--check')) writeFileSync(path, wanted);
    else if (text !== wanted) problems.push(`${part.paper} does not say what there is: run npm run docs`);
  }
  if (process.argv.includes('--check')) problems.push(...missingInProject());
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

// The real API's operations, as @turnkey/http's generated types list them. Run, it writes the list that the tests and the
// docs/reference/compatibility.md go by: `node test/vendor/vendor-operations.ts`, after an update of @turnkey/http.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../../main/activities/define.ts';
import { operations as served } from '../../main/operations/index.ts';

const projectRoot = join(import.meta.dirname, '../..');
const file = join(import.meta.dirname, '../vectors/turnkey-operations.json');
const vendor = join(projectRoot, 'node_modules/@turnkey/http');
const types = 'dist/__generated__/services/coordinator/public/v1/public_api.types.d.ts';

export interface VendorOperation {
  /** The path after `/public/v1/`: `submit/create_wallet`. */
  readonly path: string;
  /** The method of the SDKs' clients. */
  readonly method: string;
  /** The newest type, which the SDKs send; null for a query. */
  readonly type: string | null;
}

export interface VendorOperations {
  /** Package, version and file that the list was read from. */
  readonly source: string;
  readonly operations: readonly VendorOperation[];
}

/** @returns the list that is kept. */
export const keptVendorOperations = (): VendorOperations =>
  JSON.parse(readFileSync(file, 'utf8')) as VendorOperations;

/** Of what Keyhearth has, by path, what it has from the vendor: all but its own. */
export const taken: ReadonlyMap<string, Operation> = new Map(
  [...served.byPath].filter(([, operation]) => operation.own !== true),
);

/** @returns the list of the package that is installed. */
export function installedVendorOperations(): VendorOperations {
  const { name, version } = JSON.parse(readFileSync(join(vendor, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const text = readFileSync(join(vendor, types), 'utf8');
  const paths = text.matchAll(
    /^ {4}"\/public\/v1\/(\w+\/\w+)": \{\n(?: {8}\/\*\*.*\n)? {8}post: operations\["PublicApiService_(\w+)"\];$/gm,
  );
  const operations = [...paths].map(([, path = '', operation = '']): VendorOperation => ({
    path,
    method: operation.charAt(0).toLowerCase() + operation.slice(1),
    type: path.startsWith('submit/') ? typeOf(text, operation) : null,
  }));
  return { source: `${String(name)} ${String(version)}, ${types}`, operations };
}

/** The one value of the field `type` in an operation's request. */
function typeOf(text: string, operation: string): string {
  const inOperation = new RegExp(
    `^ {4}PublicApiService_${operation}: \\{[^]*?body: definitions\\["(\\w+)"\\];`,
    'm',
  );
  const request = inOperation.exec(text)?.[1] ?? '';
  const type = new RegExp(`^ {4}${request}: \\{[^]*?^ {8}type: "(ACTIVITY_TYPE_\\w+)";`, 'm').exec(text)?.[1];
  if (type === undefined) throw new Error(`no type found for ${operation} in ${types}`);
  return type;
}

if (import.meta.main) {
  const { source, operations } = installedVendorOperations();
  const lines = operations.map((operation) => `    ${JSON.stringify(operation)}`);
  writeFileSync(
    file,
    `{\n  "source": ${JSON.stringify(source)},\n  "operations": [\n${lines.join(',\n')}\n  ]\n}\n`,
  );
}

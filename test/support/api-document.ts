/** Holds requests and answers against an OpenAPI document, with Ajv, which reads JSON Schema as its draft says. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json } from './support.ts';

export interface Checker {
  /** @returns what is wrong with a request's body. */
  request(path: string, body: unknown): readonly string[];
  /** @returns what is wrong with an answer's body; a field that is not described is wrong too. */
  answer(path: string, status: number, body: unknown): readonly string[];
}

/** @param document An OpenAPI 3.1 document; paths are given as they follow `/public/v1/`. */
export function checkerOf(document: Json): Checker {
  const open = ajvOf(document);
  const closed = ajvOf(close(document) as Json);
  return {
    request: (path, body) =>
      problems(open, `${pathOf(path)}/requestBody/content/application~1json/schema`, body),
    answer: (path, status, body) => {
      const at = `${pathOf(path)}/responses/${String(status)}`;
      const response = lookUp(document, at) as { readonly $ref?: string } | undefined;
      const where = response?.$ref?.slice(1) ?? at;
      return problems(closed, `${where}/content/application~1json/schema`, body);
    },
  };
}

const pathOf = (path: string): string => `/paths/${`/public/v1/${path}`.replaceAll('/', '~1')}/post`;

function ajvOf(document: Json): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { uuid, email: /^[^@\s]+@[^@\s]+$/ } });
  ajv.addSchema(document, 'api');
  return ajv;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function problems(ajv: Ajv2020, pointer: string, value: unknown): readonly string[] {
  // As it arrives.
  const arrived: unknown = JSON.parse(JSON.stringify(value));
  ajv.validate({ $ref: `api#${pointer}` }, arrived);
  return (ajv.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${String(message)} ${JSON.stringify(params)}`,
  );
}

function lookUp(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/'))
    .reduce((value, part) => (value as Json | undefined)?.[part], document);
}

/** The same, where every schema that lists fields allows no others. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, close(part)]));
  const lists = inner['type'] === 'object' && 'properties' in inner;
  return lists ? { additionalProperties: false, ...inner } : inner;
}

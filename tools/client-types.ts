import { resolveParameter, successOf } from '../src/remote-commands/derived/document.ts';
import type {
  DocumentedOperation,
  OpenApiDocument,
  Parameter,
  Schema,
} from '../src/remote-commands/derived/document.ts';

/** Returns the types and the table of operations of `client/`. */
export function clientTypes(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => describe(document, method, path, operation)),
  );
  const schemas = Object.entries(document.components.schemas).map(([name, schema]) =>
    schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0
      ? `${comment(schema, '')}export interface ${typeName(name)} ${typeOf(schema, '')}\n`
      : `${comment(schema, '')}export type ${typeName(name)} = ${typeOf(schema, '')};\n`,
  );
  return `// Generated from openapi.json by \`npm run generate\`.

${schemas.join('\n')}
/** Parameters, body and response of every operation. */
export interface Operations {
${operations.map(({ id, summary, type }) => `  /** ${summary} */\n  ${id}: ${type};`).join('\n')}
}

export type OperationId = keyof Operations;

export interface OperationFacts {
  readonly method: string;
  readonly path: string;
  /** Names of the parameters that are sent in the query. */
  readonly query: readonly string[];
  /** Takes an Idempotency-Key. */
  readonly idempotencyKey: boolean;
  /** The field of a page that holds its entries. */
  readonly list?: string;
}

export const operations: { readonly [Id in OperationId]: OperationFacts } = {
${operations.map(({ id, facts }) => `  ${id}: ${facts},`).join('\n')}
};
`;
}

function describe(document: OpenApiDocument, method: string, path: string, operation: DocumentedOperation) {
  const parameters = (operation.parameters ?? []).map((parameter) => resolveParameter(document, parameter));
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const body = operation.requestBody;
  const bodyTypes = Object.entries(body?.content ?? {}).map(([type, { schema }]) =>
    type === 'application/json' ? typeOf(schema, '    ') : 'string',
  );
  const { schema: response } = successOf(operation);
  const listKey = listKeyOf(document, response);
  const fields = [
    `path: ${record(inPath, true)}`,
    `query: ${record(inQuery, false)}`,
    `body: ${bodyTypes.length === 0 ? 'undefined' : [...bodyTypes, ...(body?.required === true ? [] : ['undefined'])].join(' | ')}`,
    `response: ${response === undefined ? 'undefined' : typeOf(response, '    ')}`,
  ];
  const hasKey = parameters.some(({ name }) => name.toLowerCase() === 'idempotency-key');
  const facts = [
    `method: '${method.toUpperCase()}'`,
    `path: '${path}'`,
    `query: [${inQuery.map(({ name }) => `'${name}'`).join(', ')}]`,
    `idempotencyKey: ${hasKey}`,
    ...(listKey === undefined ? [] : [`list: '${listKey}'`]),
  ];
  return {
    id: operation.operationId,
    summary: operation.summary,
    type: `{ ${fields.join('; ')} }`,
    facts: `{ ${facts.join(', ')} }`,
  };
}

/** The one array of a page, which is known by its `next_page_uri`. */
function listKeyOf({ components }: OpenApiDocument, schema: Schema | undefined): string | undefined {
  const name = schema?.$ref?.slice(schema.$ref.lastIndexOf('/') + 1);
  const properties = (name === undefined ? schema : components.schemas[name])?.properties ?? {};
  if (!('next_page_uri' in properties)) return undefined;
  return Object.entries(properties).find(([, property]) => property.type === 'array')?.[0];
}

function record(parameters: readonly Parameter[], required: boolean): string {
  if (parameters.length === 0) return '{}';
  return `{ ${parameters.map(({ name, schema }) => `${name}${required ? '' : '?'}: ${typeOf(schema, '')}`).join('; ')} }`;
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return typeName(schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1));
  if (schema.anyOf !== undefined) return union(schema.anyOf.map((each) => typeOf(each, indent)));
  if (schema.oneOf !== undefined) return union(schema.oneOf.map((each) => typeOf(each, indent)));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => literal(value)));
  if (typeof schema.type === 'object') return union(schema.type.map((type) => typeOf({ ...schema, type }, indent)));
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const items = typeOf(schema.items ?? {}, indent);
      return items.includes('|') ? `(${items})[]` : `${items}[]`;
    }
    case 'object':
      return objectType(schema, indent);
    default:
      return 'unknown';
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
    return `Record<string, ${values}>`;
  }
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema, inner)}${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};\n`,
  );
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('')}${indent}}`;
}

function comment({ description }: Schema, indent: string): string {
  return description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '* /')} */\n`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

/** `Error` would hide the global of that name. */
function typeName(name: string): string {
  return name === 'Error' ? 'ErrorBody' : name;
}

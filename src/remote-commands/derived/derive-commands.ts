import type { OperationFacts } from '../../../client/src/index.ts';
import { resolveParameter, resolveSchema, successOf } from './document.ts';
import type { DocumentedOperation, OpenApiDocument, Parameter, Schema } from './document.ts';
import { deriveFlags, flagOf } from './flags.ts';
import type { Flag } from './flags.ts';

/** A command that calls one operation. */
export interface DerivedCommand {
  /** Such as `edges`, `https`, `create`. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly facts: OperationFacts;
  /** Parameters of the path, in their order. */
  readonly positional: readonly Parameter[];
  readonly query: readonly Flag[];
  readonly fields: readonly Flag[];
  readonly takesBody: boolean;
  readonly takesText: boolean;
  /** True if its body is a list, which has no flags. */
  readonly takesList: boolean;
  readonly takesIfMatch: boolean;
  readonly takesAllowLockout: boolean;
  /** True if it takes something away, or can be tried before: on a terminal, the person is asked first. */
  readonly confirms: boolean;
  /** True if the resource that the path names can be read. */
  readonly canRead: boolean;
  /** True if it needs no token. */
  readonly isPublic: boolean;
  readonly example: string;
}

/** An operation, and the words of its command. */
interface NamedOperation {
  readonly words: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** One command for each operation, or for those whose first word is given. */
export function deriveCommands(document: OpenApiDocument, first?: string): readonly DerivedCommand[] {
  const called = nameOperations(document).filter(({ words }) => first === undefined || words[0] === first);
  return called.map((each) => derive(document, each));
}

/** Names all operations except for streams, which `tail` follows. */
function nameOperations(document: OpenApiDocument): readonly NamedOperation[] {
  const named: NamedOperation[] = [];
  const taken = new Set<string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [key, operation] of Object.entries(methods)) {
      if (successOf(operation).type === 'text/event-stream') continue;
      const method = key.toUpperCase();
      const usual = wordsOf(document, method, path, operation);
      const words = taken.has(usual.join(' ')) ? [toWord(operation.operationId)] : usual;
      taken.add(words.join(' '));
      named.push({ words, method, path, operation });
    }
  }
  return named;
}

function derive(document: OpenApiDocument, { words, method, path, operation }: NamedOperation): DerivedCommand {
  const parameters = (operation.parameters ?? []).map((parameter) => resolveParameter(document, parameter));
  const queries = parameters.filter((parameter) => parameter.in === 'query');
  const has = (header: string) => parameters.some(({ name }) => name.toLowerCase() === header);
  const content = operation.requestBody?.content ?? {};
  const list = listKeyOf(document, successOf(operation).schema);
  const command = {
    words,
    summary: operation.summary,
    description: [operation.summary, operation.description].filter(Boolean).join('. '),
    facts: {
      method,
      path,
      query: queries.map(({ name }) => name),
      idempotencyKey: has('idempotency-key'),
      ...(list === undefined ? {} : { list }),
    },
    positional: parameters.filter((parameter) => parameter.in === 'path'),
    // The limit of a command is that of the whole list, not of a page.
    query: queries
      .filter(({ name }) => name !== 'limit')
      .map(({ name, schema, description }) => flagOf(document, [name], { description: description ?? '', ...schema })),
    fields: deriveFlags(document, content['application/json']?.schema ?? {}),
    takesBody: operation.requestBody !== undefined,
    takesText: content['text/plain'] !== undefined,
    takesList: isListBody(document, content['application/json']?.schema),
    takesIfMatch: has('if-match'),
    takesAllowLockout: has('gatehouse-allow-lockout'),
    confirms: method === 'DELETE' || queries.some(({ name }) => name === 'dry_run'),
    canRead: document.paths[path]?.['get'] !== undefined,
    isPublic: operation.security?.length === 0,
  };
  const body = resolveSchema(document, content['application/json']?.schema ?? {});
  return { ...command, example: exampleOf(command, body.examples?.[0]) };
}

function isListBody(document: OpenApiDocument, schema: Schema = {}): boolean {
  const { type, anyOf = [] } = resolveSchema(document, schema);
  return type === 'array' || anyOf.some((each) => isListBody(document, each));
}

/** The words of the path, then a verb. */
function wordsOf(
  document: OpenApiDocument,
  method: string,
  path: string,
  operation: DocumentedOperation,
): readonly string[] {
  const nouns = literalWords(path);
  const verb = { PATCH: 'update', DELETE: 'delete', PUT: 'set' }[method];
  if (verb !== undefined) return [...nouns, verb];
  const { status, schema } = successOf(operation);
  if (method === 'GET') {
    const isList = operation.operationId.endsWith('List') || listKeyOf(document, schema) !== undefined;
    return [...nouns, isList ? 'list' : 'get'];
  }
  if (status === '201') return [...nouns, 'create'];
  // The last word of `/api_keys/{id}/rotate` is a verb already; `ConfigurationApply` has one that its path has not.
  const own = toWord(operation.operationId);
  const name = nouns.join('-');
  return own.startsWith(`${name}-`) && !path.includes('{') ? [...nouns, own.slice(name.length + 1)] : nouns;
}

function literalWords(path: string): readonly string[] {
  return path
    .split('/')
    .filter((part) => part !== '' && !part.startsWith('{'))
    .map((part) => part.replace(/\.(?:json|pem)$/, '').replaceAll(/[._]/g, '-'));
}

/** `IpCheck` becomes `ip-check`. */
function toWord(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
}

/** The one array of a page, which is known by its `next_page_uri`. */
function listKeyOf(document: OpenApiDocument, schema: Schema | undefined): string | undefined {
  const properties = resolveSchema(document, schema ?? {}).properties ?? {};
  if (!('next_page_uri' in properties)) return undefined;
  return Object.entries(properties).find(([, property]) => property.type === 'array')?.[0];
}

/** Fields that say nothing about what a call makes. */
const plainFields = new Set(['description', 'metadata', 'enabled']);
/** An id of something that need not exist. */
const exampleId = /_2tQ/;

/**
 * A call with the fields of the example of the whole body; without one, with those that are required, and secrets, or else
 * with the most telling one that has an example.
 */
function exampleOf(command: Omit<DerivedCommand, 'example'>, whole: unknown): string {
  const { words, positional, fields, takesList, takesText } = command;
  const inWhole = typeof whole === 'object' && whole !== null ? new Set(Object.keys(whole)) : undefined;
  const shown =
    inWhole === undefined
      ? shownFields(command)
      : fields.filter(({ path: [name = '', inner] }) => inner === undefined && inWhole.has(name));
  const body = takesList || takesText ? ['--body FILE'] : shown.map(exampleFlag);
  return ['gatehouse', ...words, ...positional.map(({ name }) => placeholder(name)), ...body].join(' ');
}

function shownFields({ facts, fields }: Omit<DerivedCommand, 'example'>): readonly Flag[] {
  const known = fields.filter(({ example }) => example !== undefined);
  const required = known.filter(({ name, isRequired }) => isRequired || /^(?:client-)?secret$/.test(name));
  if (required.length > 0) return required;
  // An update changes any one field.
  if (facts.method === 'PATCH') return known.slice(0, 1);
  const telling = known.filter(({ name, isHidden }) => !isHidden && !plainFields.has(name));
  const usable = telling.filter(({ example = '' }) => facts.method !== 'POST' || !exampleId.test(example));
  return (usable.length > 0 ? usable : known).slice(0, 1);
}

function exampleFlag({ name, example = '' }: Flag): string {
  // A text of several lines stands in a file.
  if (example.includes('\n')) return `--${name} @${name.replace(/-pem$/, '')}.pem`;
  return `--${name} ${/^[\w.:/@=-]+$/.test(example) ? example : `'${example}'`}`;
}

/** `edge_id` as a word that stands for a value. */
export function placeholder(name: string): string {
  return name.toUpperCase().replaceAll('_', '-');
}

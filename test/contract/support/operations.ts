import { someOf } from '../../support/sample.ts';
import { readRootFile } from './source-files.ts';

/** The parts of a JSON schema that these tests read. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
  readonly 'x-max-bytes'?: number;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
  readonly description?: string;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly 'x-rights'?: string;
  readonly 'x-rehearsable'?: true;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly { readonly name?: string; readonly in?: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** One operation of openapi.json. */
export interface ApiOperation {
  readonly id: string;
  readonly method: string;
  /** Path template with `{name}` parameters. */
  readonly path: string;
  readonly params: readonly string[];
  readonly successStatus: number;
  readonly bodySchema: Schema | undefined;
  readonly isList: boolean;
  readonly queryNames: readonly string[];
  readonly described: DescribedOperation;
}

// Other tests compare openapi.json with the code and run a validator over it.
export const openApi = JSON.parse(readRootFile('openapi.json')) as OpenApi;

/** Stand for parameters that are no ids: every address exists, and the type is one that the example of its resource has. */
const withExamples = (path: string) => path.replace('{ip}', '192.0.2.44').replace('{type}', 'ip_policy_created.v0');

const all: readonly ApiOperation[] = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({
    id: described.operationId,
    method: method.toUpperCase(),
    path: withExamples(path),
    params: [...withExamples(path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    successStatus: Number(Object.keys(described.responses).find((status) => status.startsWith('2'))),
    bodySchema: described.requestBody?.content?.['application/json']?.schema,
    isList: described.parameters?.some(({ name }) => name === 'before_id') === true,
    queryNames: (described.parameters ?? []).flatMap((each) => (each.in === 'query' ? [each.name ?? ''] : [])),
    described,
  })),
);

export const publicOperations = all.filter(({ described }) => described.security?.length === 0);
/** Operations that need a key. */
export const operations = all.filter((operation) => !publicOperations.includes(operation));

/** Operations that viewers and keys that only read may call. */
export function onlyReads({ id, method }: ApiOperation): boolean {
  return method === 'GET' || id === 'IpCheck' || id === 'TrafficPolicyCheck';
}

/** Beginnings of the ids of the operations that are checked; all are where it is not set. */
const chosenPrefixes = process.env['TEST_OPERATIONS']?.split(',');
export const isChosen = ({ id }: Pick<ApiOperation, 'id'>) =>
  chosenPrefixes?.some((prefix) => id.startsWith(prefix)) ?? true;

const isOfModule = ({ path }: ApiOperation) => /^\/edges\/.*\}\/(?!routes$)\w+$/.test(path);
const modulePaths = new Set(operations.filter(isOfModule).map(({ path }) => path));
/** Each module at one of the places that take it. */
const onePathOfEachModule = new Set(
  [...Map.groupBy(modulePaths, moduleOf)].flatMap(([name, paths]) => someOf(paths, 1, 'place of a module', name)),
);
/** All operations but those of a module at its other places: one code serves them all, and each needs an edge of its own. */
export const operationsOfEachModuleOnce = operations.filter(
  ({ path }) => chosenPrefixes !== undefined || !modulePaths.has(path) || onePathOfEachModule.has(path),
);

function moduleOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Operations whose answer ends, for random calls. */
export const finiteOperations = operations.filter(
  (operation) =>
    isChosen(operation) &&
    operation.described.responses[operation.successStatus]?.content?.['text/event-stream'] === undefined,
);

export function findOperation(method: string, path: string): ApiOperation | undefined {
  return all.find((operation) => operation.method === method && operation.path === path);
}

export function resolveSchema(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  return name === undefined ? schema : (openApi.components.schemas[name] ?? {});
}

/** Runs the check for every operation and reports all that failed, each by its name. */
export async function forEach(
  chosen: readonly ApiOperation[],
  check: (operation: ApiOperation, at: number) => Promise<void>,
): Promise<void> {
  const faults: string[] = [];
  for (const [at, operation] of chosen.entries()) {
    if (!isChosen(operation)) continue;
    try {
      await check(operation, at);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      faults.push(`${operation.id}: ${message.slice(0, 1000)}`);
    }
  }
  if (chosen.length === 0) throw new Error('no operation to check');
  if (faults.length > 0)
    throw new Error(`${faults.length} of ${chosen.length} operations fail\n\n${faults.join('\n\n')}`);
}

import { backend } from './backend/index.ts';
import { basicAuth } from './basic-auth/index.ts';
import { cidrRestriction } from './cidr-restriction/index.ts';
import { circuitBreaker } from './circuit-breaker/index.ts';
import { compression } from './compression/index.ts';
import { ipRestriction } from './ip-restriction/index.ts';
import type {
  EdgeModule,
  HeaderList,
  ModuleAction,
  ModuleTarget,
  Pipeline,
  ReferenceKind,
  Settings,
} from './module.ts';
import { mutualTls } from './mutual-tls/index.ts';
import { requestHeaders } from './request-headers/index.ts';
import { responseHeaders } from './response-headers/index.ts';
import { userAgentFilter } from './user-agent-filter/index.ts';
import { websocketTcpConverter } from './websocket-tcp-converter/index.ts';

/** Every module, in running order. A new module is one folder and one line here. */
export const modules: readonly EdgeModule[] = [
  widen(ipRestriction),
  widen(cidrRestriction),
  widen(mutualTls),
  widen(userAgentFilter),
  widen(basicAuth),
  widen(circuitBreaker),
  widen(websocketTcpConverter),
  widen(backend),
  widen(requestHeaders),
  widen(responseHeaders),
  widen(compression),
];

const moduleByName: ReadonlyMap<string, EdgeModule> = new Map(modules.map((module) => [module.name, module]));

/** Those that the API offers. */
export const apiModules: readonly EdgeModule[] = modules.filter(({ targets }) =>
  targets.some((target) => target !== 'agent_endpoint'),
);

export function modulesFor(target: ModuleTarget): readonly EdgeModule[] {
  return modules.filter((module) => module.targets.includes(target));
}

/**
 * Builds the steps of the modules that are switched on in the stored settings of one edge or route. Throws for a name
 * that is not known: a check must never be skipped because this program is older than the settings.
 */
export function buildModules(settingsByName: Readonly<Record<string, unknown>>): Pipeline {
  for (const name of Object.keys(settingsByName)) {
    if (!moduleByName.has(name)) throw new Error(`unknown module ${JSON.stringify(name)}`);
  }
  const actions = modules.flatMap((module) => {
    const settings = settingsByName[module.name];
    if (settings === undefined || settings === null) return [];
    // Stored settings were accepted by this very module before they were written.
    const accepted = settings as Settings;
    return accepted.enabled ? [module.build(accepted)] : [];
  });
  return joinSteps(actions);
}

function joinSteps(actions: readonly ModuleAction[]): Pipeline {
  const checks = actions.flatMap(({ admits }) => admits ?? []);
  return {
    admits: (source, rules) => checks.every((admits) => admits(source, rules)),
    clientCa: actions.find(({ clientCa }) => clientCa !== undefined)?.clientCa,
    refuses: firstRefusal(actions.flatMap(({ refuses }) => refuses ?? [])),
    asksPassword: actions.some(({ asksPassword }) => asksPassword === true),
    breaker: actions.find(({ breaker }) => breaker !== undefined)?.breaker,
    convertsWebsocket: actions.some(({ convertsWebsocket }) => convertsWebsocket === true),
    backendId: actions.find(({ backendId }) => backendId !== undefined)?.backendId,
    rewriteRequest: chain(actions.flatMap(({ rewriteRequest }) => rewriteRequest ?? [])),
    removedFromRequest: joinNames(actions.map(({ removedFromRequest }) => removedFromRequest)),
    rewriteResponse: chain(actions.flatMap(({ rewriteResponse }) => rewriteResponse ?? [])),
    removedFromResponse: joinNames(actions.map(({ removedFromResponse }) => removedFromResponse)),
    encodeResponse: firstOf(actions.flatMap(({ encodeResponse }) => encodeResponse ?? [])),
  };
}

function firstRefusal(checks: readonly NonNullable<Pipeline['refuses']>[]): Pipeline['refuses'] {
  if (checks.length < 2) return checks[0];
  return (headers) => {
    for (const refuses of checks) {
      const refusal = refuses(headers);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
}

const noNames: readonly string[] = [];

/** Routes without such names, which are most of very many, share one list. */
function joinNames(lists: readonly (readonly string[] | undefined)[]): readonly string[] {
  const names = lists.flatMap((list) => list ?? noNames);
  return names.length === 0 ? noNames : names;
}

type Rewrite = (headers: HeaderList) => HeaderList;

function chain(rewrites: readonly Rewrite[]): Rewrite | undefined {
  if (rewrites.length < 2) return rewrites[0];
  return (headers) => rewrites.reduce((list, rewrite) => rewrite(list), headers);
}

function firstOf(encoders: readonly NonNullable<Pipeline['encodeResponse']>[]): Pipeline['encodeResponse'] {
  if (encoders.length < 2) return encoders[0];
  return (request, response) => {
    for (const encode of encoders) {
      const encoder = encode(request, response);
      if (encoder !== undefined) return encoder;
    }
    return undefined;
  };
}

/** Ids of one kind that the stored settings of an edge or route name, also in modules that are switched off. */
export function referencedIds(
  settingsByName: Readonly<Record<string, unknown>>,
  kind: ReferenceKind,
): ReadonlySet<string> {
  const ids = modules.flatMap(({ name, references = [] }) => {
    const settings = settingsByName[name];
    if (settings === undefined || settings === null) return [];
    // Stored settings were accepted by this very module before they were written.
    return references.flatMap((reference) => (reference.kind === kind ? reference.ids(settings as Settings) : []));
  });
  return new Set(ids);
}

/** Drops the module's own types for the list: each module is only given settings that its own `accept` has passed. */
function widen<Input, Stored extends Settings>(module: EdgeModule<Input, Stored>): EdgeModule {
  return module;
}

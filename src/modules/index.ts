import { backend } from './backend/index.ts';
import { basicAuth } from './basic-auth/index.ts';
import { cidrRestriction } from './cidr-restriction/index.ts';
import { circuitBreaker } from './circuit-breaker/index.ts';
import { compression } from './compression/index.ts';
import { ipRestriction } from './ip-restriction/index.ts';
import { jwtValidation } from './jwt-validation/index.ts';
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
import { oauth } from './oauth/index.ts';
import { oidc } from './oidc/index.ts';
import { pathRewrite } from './path-rewrite/index.ts';
import { rateLimit, rateLimitOfEdge } from './rate-limit/index.ts';
import { redirect } from './redirect/index.ts';
import { requestHeaders } from './request-headers/index.ts';
import { responseHeaders } from './response-headers/index.ts';
import type { SignIn, TrustedNetwork } from './sign-in.ts';
import { tlsTermination } from './tls-termination/index.ts';
import { userAgentFilter } from './user-agent-filter/index.ts';
import { webhookVerification } from './webhook-verification/index.ts';
import { websocketTcpConverter } from './websocket-tcp-converter/index.ts';

export { endsUpstream } from './tls-termination/index.ts';

/** Every module, in running order. A new module is one folder and one line here. */
export const modules: readonly EdgeModule[] = [
  widen(ipRestriction),
  widen(cidrRestriction),
  widen(rateLimit),
  widen(rateLimitOfEdge),
  widen(mutualTls),
  widen(tlsTermination),
  widen(userAgentFilter),
  widen(basicAuth),
  widen(jwtValidation),
  widen(oauth),
  widen(oidc),
  widen(webhookVerification),
  widen(circuitBreaker),
  widen(websocketTcpConverter),
  widen(redirect),
  widen(backend),
  widen(pathRewrite),
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
    needsTls13: actions.some(({ needsTls13 }) => needsTls13 === true),
    refuses: firstRefusal(actions.flatMap(({ refuses }) => refuses ?? [])),
    tokenRule: actions.find(({ tokenRule }) => tokenRule !== undefined)?.tokenRule,
    signIns: joinSignIns(actions),
    asksPassword: actions.some(({ asksPassword }) => asksPassword === true),
    rateLimits: someOf(actions.flatMap(({ rateLimit: rule }) => rule ?? [])),
    bodyCheck: actions.find(({ bodyCheck }) => bodyCheck !== undefined)?.bodyCheck,
    breaker: actions.find(({ breaker }) => breaker !== undefined)?.breaker,
    convertsWebsocket: actions.some(({ convertsWebsocket }) => convertsWebsocket === true),
    redirects: actions.find(({ redirects }) => redirects !== undefined)?.redirects,
    rewriteTarget: actions.find(({ rewriteTarget }) => rewriteTarget !== undefined)?.rewriteTarget,
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

const noSignIns: readonly SignIn[] = [];

function joinSignIns(actions: readonly ModuleAction[]): readonly SignIn[] {
  const signIns = actions.flatMap(({ signIn }) => signIn ?? noSignIns);
  return signIns.length === 0 ? noSignIns : signIns;
}

function someOf<Value>(values: readonly Value[]): readonly Value[] | undefined {
  return values.length === 0 ? undefined : values;
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

/** A module that decides about access by something else than the address. */
export interface FurtherCheck {
  readonly module: string;
  /** In words. */
  readonly by: string;
  /** Undefined where it does not depend on the address. */
  readonly network?: TrustedNetwork | undefined;
}

/** Those among the stored settings of an edge or route that are switched on. */
export function furtherChecks(settingsByName: Readonly<Record<string, Settings>>): readonly FurtherCheck[] {
  return modules.flatMap((module) => {
    const { name, alsoChecks: by } = module;
    const settings = settingsByName[name];
    return by !== undefined && settings?.enabled === true
      ? [{ module: name, by, network: module.trustedNetwork?.(settings) }]
      : [];
  });
}

/** The stored settings of an edge or route as people may read them. */
export function concealSecrets(settingsByName: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(settingsByName).map(([name, settings]) => {
      const secrets = moduleByName.get(name)?.secrets;
      // Stored settings were accepted by this very module before they were written.
      return [name, secrets === undefined ? settings : secrets.conceal(settings as Settings)];
    }),
  );
}

/** The stored settings of an edge or route with the secrets that the gateway uses. Throws where one cannot be opened. */
export function openSecrets(
  settingsByName: Readonly<Record<string, Settings>>,
  open: (sealed: string, context: string) => string,
): Readonly<Record<string, unknown>> {
  const opened = Object.entries(settingsByName).flatMap(([name, settings]) => {
    const secrets = moduleByName.get(name)?.secrets;
    return secrets?.open === undefined ? [] : [[name, secrets.open(settings, open)] as const];
  });
  return opened.length === 0 ? settingsByName : { ...settingsByName, ...Object.fromEntries(opened) };
}

/** Drops the module's own types for the list: each module is only given settings that its own `accept` has passed. */
function widen<Input, Stored extends Settings>(module: EdgeModule<Input, Stored>): EdgeModule {
  return module;
}

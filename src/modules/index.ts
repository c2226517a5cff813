import { isDeepStrictEqual } from 'node:util';

import { BoundedCache } from '../lib/bounded-cache.ts';
import { backend } from './backend/index.ts';
import { basicAuth } from './basic-auth/index.ts';
import { cidrRestriction } from './cidr-restriction/index.ts';
import { circuitBreaker } from './circuit-breaker/index.ts';
import { compression } from './compression/index.ts';
import { ipRestriction } from './ip-restriction/index.ts';
import { jwtValidation } from './jwt-validation/index.ts';
import type { EdgeModule, ModuleTarget, NamedSecret, ReferenceKind, Settings } from './module.ts';
import { mutualTls } from './mutual-tls/index.ts';
import { oauth } from './oauth/index.ts';
import { oidc } from './oidc/index.ts';
import { pathRewrite } from './path-rewrite/index.ts';
import { policy } from './policy/index.ts';
import { rateLimit, rateLimitOfEdge } from './rate-limit/index.ts';
import { redirect } from './redirect/index.ts';
import { requestHeaders } from './request-headers/index.ts';
import { responseHeaders } from './response-headers/index.ts';
import type { AnswerStep, ModulePart, Step } from './step.ts';
import { tlsTermination } from './tls-termination/index.ts';
import { trafficPolicy } from './traffic-policy/index.ts';
import { userAgentFilter } from './user-agent-filter/index.ts';
import { webhookVerification } from './webhook-verification/index.ts';
import { websocketTcpConverter } from './websocket-tcp-converter/index.ts';

export { acceptEndpointPolicy, missingIpPolicy } from './traffic-policy/index.ts';
export { endsUpstream } from './tls-termination/index.ts';

/** Every module, in running order. A new module is one folder and one line here. */
export const modules: readonly EdgeModule[] = [
  ipRestriction,
  cidrRestriction,
  rateLimit,
  rateLimitOfEdge,
  mutualTls,
  tlsTermination,
  userAgentFilter,
  basicAuth,
  jwtValidation,
  oauth,
  oidc,
  webhookVerification,
  policy,
  trafficPolicy,
  circuitBreaker,
  websocketTcpConverter,
  redirect,
  backend,
  pathRewrite,
  requestHeaders,
  responseHeaders,
  compression,
];

const moduleByName: ReadonlyMap<string, EdgeModule> = new Map(modules.map((module) => [module.name, module]));

/** Modules that the API offers. */
export const apiModules: readonly EdgeModule[] = modules.filter(({ targets }) =>
  targets.some((target) => target !== 'agent_endpoint'),
);

export function modulesFor(target: ModuleTarget): readonly EdgeModule[] {
  return modules.filter((module) => module.targets.includes(target));
}

/** The parts that switched-on modules take in traffic. Things with equal settings share them. */
export interface SharedModules {
  /** In running order. */
  readonly steps: readonly Step[];
  readonly answers: readonly AnswerStep[];
  /** Names of the modules that the steps are of. */
  readonly moduleOf: ReadonlyMap<object, string>;
  readonly convertsWebsocket: boolean;
}

/** All that the modules of one edge or route do. */
export interface BuiltModules {
  readonly shared: SharedModules;
  readonly backendId: string | undefined;
}

/** By settings, as text. */
const shared = new BoundedCache<string, SharedModules>(1_000);
/** Longer settings are seldom equal, and would take much memory. */
const longestShared = 2_000;

/**
 * Builds the modules that are switched on in the stored settings of one edge or route. Throws for a name that is not
 * known: a check must never be skipped because this program is older than the settings.
 */
export function buildModules(settingsByName: Readonly<Record<string, unknown>>): BuiltModules {
  for (const name of Object.keys(settingsByName)) {
    if (!moduleByName.has(name)) throw new Error(`unknown module ${JSON.stringify(name)}`);
  }
  const { [backend.name]: own, ...others } = settingsByName;
  const [backendPart] = partsOf({ [backend.name]: own });
  return { shared: share(others), backendId: backendPart?.part.backendId };
}

function share(settingsByName: Readonly<Record<string, unknown>>): SharedModules {
  const text = textToShare(settingsByName);
  const known = text === undefined ? undefined : shared.get(text);
  if (known !== undefined) return known;
  const parts = partsOf(settingsByName);
  const built = {
    steps: parts.flatMap(({ part: { steps = [] } }) => steps),
    answers: parts.flatMap(({ part: { answers = [] } }) => answers),
    moduleOf: new Map(parts.flatMap(({ name, part: { steps = [] } }) => steps.map((step) => [step, name] as const))),
    convertsWebsocket: parts.some(({ part }) => part.convertsWebsocket === true),
  };
  if (text !== undefined) shared.set(text, built);
  return built;
}

/** The text of settings that others may have too. A long policy is told by a look: to write hundreds of them takes a while. */
function textToShare(settingsByName: Readonly<Record<string, unknown>>): string | undefined {
  const isLong = Object.values(settingsByName).some(
    (settings) =>
      typeof settings === 'object' &&
      settings !== null &&
      'value' in settings &&
      typeof settings.value === 'string' &&
      settings.value.length > longestShared,
  );
  const text = isLong ? undefined : JSON.stringify(settingsByName);
  return text !== undefined && text.length <= longestShared ? text : undefined;
}

function partsOf(
  settingsByName: Readonly<Record<string, unknown>>,
): readonly { readonly name: string; readonly part: ModulePart }[] {
  return namedParts(settingsByName).flatMap(({ name, isEnabled, build }) =>
    isEnabled ? [{ name, part: build() }] : [],
  );
}

/** The modules among stored settings by name, in running order. */
export function namedParts(settingsByName: Readonly<Record<string, unknown>>): readonly NamedPart[] {
  return withSettings(modules, settingsByName).map(([module, settings]) => ({
    name: module.name,
    isEnabled: settings.enabled,
    build: () => module.build(settings),
  }));
}

/** Those of the modules that have settings among these. */
function withSettings(
  among: readonly EdgeModule[],
  settingsByName: Readonly<Record<string, unknown>>,
): readonly (readonly [module: EdgeModule, settings: Settings])[] {
  return among.flatMap((module) => {
    const settings = settingsByName[module.name];
    // Stored settings were accepted by this very module before they were written.
    return settings === undefined || settings === null ? [] : [[module, settings as Settings] as const];
  });
}

export interface NamedPart {
  readonly name: string;
  readonly isEnabled: boolean;
  build(this: void): ModulePart;
}

/** Ids of one kind that the stored settings of an edge or route name, also in modules that are switched off. */
export function referencedIds(
  settingsByName: Readonly<Record<string, unknown>>,
  kind: ReferenceKind,
): ReadonlySet<string> {
  const ids = withSettings(modules, settingsByName).flatMap(([{ references = [] }, settings]) =>
    references.flatMap((reference) => (reference.kind === kind ? reference.ids(settings) : [])),
  );
  return new Set(ids);
}

/** The stored settings of an edge or route as traffic meets them: some modules do their work in others. */
export function asRun(
  settingsByName: Readonly<Record<string, Settings>>,
  target: ModuleTarget,
): Readonly<Record<string, Settings>> {
  let run = settingsByName;
  for (const { name, runAs } of modulesFor(target)) {
    const { [name]: settings, ...others } = run;
    if (settings === undefined || runAs === undefined) continue;
    const as = runAs(settings, target);
    // Of two that do the same one is switched off.
    run = settings.enabled || others[as.name] === undefined ? { ...others, [as.name]: as.settings } : others;
  }
  return run;
}

/** Throws `UserError` for modules that cannot be switched on together. */
export function checkTogether(settingsByName: Readonly<Record<string, Settings>>, target: ModuleTarget): void {
  for (const { name, excludes } of modulesFor(target))
    if (excludes !== undefined && settingsByName[name]?.enabled === true && settingsByName[excludes.name]?.enabled)
      throw excludes.error();
}

/** Checks modules that are written with other settings than before. Throws `UserError`. */
export function checkWritten(
  settingsByName: Readonly<Record<string, Settings>>,
  before: Readonly<Record<string, Settings>>,
  target: ModuleTarget,
): void {
  for (const [{ name, checkWritten: check }, settings] of withSettings(modulesFor(target), settingsByName))
    if (check !== undefined && !isDeepStrictEqual(settings, before[name])) check(settings, target);
}

/** Secrets in vaults that the stored settings of an edge or route name. */
export function secretsNamed(
  settingsByName: Readonly<Record<string, Settings>>,
  target: ModuleTarget,
): readonly NamedSecret[] {
  return withSettings(modulesFor(target), settingsByName).flatMap(
    ([{ secretsIn }, settings]) => secretsIn?.(settings, target) ?? [],
  );
}

/** What `prepareModules` has made ready; it is found as long as this is kept. */
export type Prepared = readonly object[];

/**
 * Makes ready, in slices, what takes long of the settings of an edge or route; inputs will do. To be kept until all that needs it has been
 * called.
 */
export async function prepareModules(
  settingsByName: Readonly<Record<string, unknown>>,
  target: ModuleTarget,
): Promise<Prepared> {
  const prepared: object[] = [];
  for (const [{ prepare }, settings] of withSettings(modulesFor(target), settingsByName)) {
    // Whoever refuses them says so later.
    const made = await prepare?.(settings, target).catch(() => undefined);
    if (made !== undefined) prepared.push(made);
  }
  return prepared;
}

/** Estimate of the memory that the modules of an edge or route take, in KiB. */
export function memoryOf(settingsByName: Readonly<Record<string, Settings>>, target: ModuleTarget): number {
  return withSettings(modulesFor(target), settingsByName).reduce(
    (sum, [{ memoryKib }, settings]) => sum + (settings.enabled ? (memoryKib?.(settings, target) ?? 0) : 0),
    0,
  );
}

/** Whether the memory may be another one with the second settings. */
export function changesMemory(
  before: Readonly<Record<string, Settings>>,
  now: Readonly<Record<string, Settings>>,
  target: ModuleTarget,
): boolean {
  return modulesFor(target).some(
    ({ name, memoryKib }) => memoryKib !== undefined && !isDeepStrictEqual(before[name], now[name]),
  );
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

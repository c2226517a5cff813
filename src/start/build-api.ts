import { fileURLToPath } from 'node:url';

import type { FastifyInstance } from 'fastify';

import packageJson from '../../package.json' with { type: 'json' };
import { createValidators } from '../api/body/validators.ts';
import { createApi } from '../api/server.ts';
import { vendorWords } from '../api/http/vendor-words.ts';
import type { Config } from '../config/config.ts';
import type { ResilientGateway } from '../gateway/resilient-gateway.ts';
import { packageFolder } from '../lib/package-folder.ts';
import { apiModules } from '../modules/index.ts';
import { Ref } from '../modules/module.ts';
import { authenticator } from '../resources/api-keys/service.ts';
import { dashboardSessions, providerSignIn } from '../resources/dashboard-sessions/service.ts';
import { reverters } from '../resources/changes/service.ts';
import { allOperations } from '../resources/rehearsals/service.ts';
import { resources } from '../resources/index.ts';
import { localCa } from '../resources/local-ca/service.ts';
import { invitationAcceptance } from '../resources/principals/service.ts';
import type { ResourceContext } from '../resources/resource.ts';
import type { AccessTable } from '../snapshot/access.ts';
import type { Limits } from './limits.ts';
import type { Observers } from './observers.ts';
import type { Readiness } from './readiness.ts';

interface ApiParts extends Pick<Observers, 'observer' | 'metrics' | 'log'>, Readiness, Limits {
  readonly context: ResourceContext;
  readonly access: AccessTable;
  readonly gateway: ResilientGateway | undefined;
  readonly isQuiet: boolean;
}

const schemas = [
  Ref,
  ...apiModules.flatMap(({ input, view }) => [input, view]),
  ...resources.flatMap((resource) => resource.schemas),
];
/** Shared by all servers of the process: to compile a schema takes longer than most calls. */
const validators = createValidators(schemas);

/** The API as the settings ask for it, over all resources. */
export function buildApi(config: Config, parts: ApiParts): Promise<FastifyInstance> {
  const { context, observer, metrics, gateway } = parts;
  const operations = resources.flatMap((resource) => resource.operations(context));
  for (const each of operations) context.services.add(allOperations, each);
  for (const { reverter } of operations) if (reverter !== undefined) context.services.add(reverters, reverter);
  return createApi({
    operations,
    schemas,
    validators,
    authenticator: context.services.get(authenticator),
    sessions: context.services.get(dashboardSessions),
    invitations: context.services.get(invitationAcceptance),
    signIn: { provider: context.services.find(providerSignIn), token: config.dashboardTokenSignIn === 'on' },
    programVersion: packageJson.version,
    dashboardFolder: config.dashboardFiles ?? fileURLToPath(new URL('dashboard/dist', packageFolder)),
    warned: (restrictionIds, source) => {
      observer.warned(restrictionIds, source);
    },
    ...parts,
    isBesideTraffic: () => (gateway?.engine?.clientCount ?? 0) > 0,
    localCaCertificate: rememberOnce(async () => (await context.services.get(localCa).load())?.certificatePem),
    publicUrl: config.publicUrl,
    vendor: vendorWords(config.vendor),
    trustedProxies: config.trustedProxies,
    rateLimit: config.rateLimit,
    accountCalls: config.accountCalls,
    filterRows: config.filterRows,
    maxWaitMs: config.maxWaitMs,
    stallSeconds: config.apiStallSeconds,
    observer: metrics,
    measured: config.metricsListen === undefined ? undefined : metrics,
    logger: parts.log,
  });
}

/** Asks no more once there is a value: it never changes. Anybody may ask for it, and loading opens a private key. */
function rememberOnce<T>(load: () => Promise<T | undefined>): () => Promise<T | undefined> {
  let known: T | undefined;
  return async () => (known ??= await load());
}

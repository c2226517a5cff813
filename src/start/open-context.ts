import { idempotencyMigrations } from '../api/idempotency.ts';
import { vendorWords } from '../api/http/vendor-words.ts';
import type { Config } from '../config/config.ts';
import { hasGateway } from '../config/roles.ts';
import { httpsVisitorPort, httpVisitorPort } from '../config/visitor-ports.ts';
import { overQuota } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import type { ResilientGateway } from '../gateway/resilient-gateway.ts';
import { createSealer } from '../lib/sealed-secret.ts';
import type { Logger } from '../log.ts';
import { resources } from '../resources/index.ts';
import { Referables } from '../resources/references.ts';
import type { ResourceContext } from '../resources/resource.ts';
import { Services } from '../resources/services.ts';
import { openStore } from '../store/store.ts';
import { canListen } from './listeners.ts';
import { logHistoryChange } from './log-history-change.ts';
import { operatorSignIn } from './operator-sign-in.ts';
import { ownNamesOf } from './own-names.ts';

/** Migrations of the API and of all resources, in the order in which they run; the store adds its own before them. */
export const migrations = [...idempotencyMigrations, ...resources.flatMap((resource) => resource.migrations)];

/**
 * Opens the database, brings it up to date, and puts the resources together over it. `seen`: the point of it whose configuration
 * this process serves already.
 */
export async function openContext(
  config: Config,
  log: Logger,
  seen?: ResilientGateway['startedFrom'],
): Promise<ResourceContext> {
  const store = await openStore({
    url: config.databaseUrl,
    listenUrl: config.databaseListenUrl,
    seen,
    migrations,
    explainOverQuota: ({ quota, used, most }, { accountId }) =>
      new UserError(overQuota, { quota, used, limit: most, account: accountId }),
    onFeedFault: (error) => {
      log.error({ err: error }, 'cannot read what other processes have changed; trying again');
    },
    onFeedRecovered: () => {
      log.info('what other processes have changed can be read again');
    },
    historyWatcher: logHistoryChange(log),
  });
  const context: ResourceContext = {
    store,
    settings: {
      tcpPorts: config.tcpPorts,
      canListen: hasGateway(config) ? (port) => canListen(config.tcpListenHost, port) : undefined,
      httpsPort: config.httpsPort,
      acme: { isOn: config.acme === 'on', hasDnsHook: config.acmeDnsHook !== undefined },
      errorPrefix: vendorWords(config.vendor).errorPrefix,
      transport: `${config.vendor ?? 'agent'}/2`,
      agentDomain: config.agentDomain,
      ownNames: ownNamesOf(config),
      httpsUrlPort: httpsVisitorPort(config),
      httpUrlPort: httpVisitorPort(config),
      agentAddress: config.agentAddress,
      hasAgentCertificate: config.agentCertificate !== undefined,
      region: config.region,
      configurationEntries: config.configurationEntries,
      events: {
        hasFolder: config.eventFiles !== undefined,
        hasMailServer: config.smtpUrl !== undefined,
        mailEveryMs: config.smtpSeconds * 1000,
      },
      dashboard: {
        sessionSeconds: config.dashboardSessionSeconds,
        idleSeconds: config.dashboardIdleSeconds,
        sessionsPerPrincipal: config.dashboardSessions,
      },
      signIn: operatorSignIn(config, log),
    },
    sealer: createSealer(config.secretKey),
    services: new Services(),
    referables: new Referables(resources.flatMap(({ referables = [] }) => referables)),
  };
  for (const resource of resources) resource.provide?.(context);
  return context;
}

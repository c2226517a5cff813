import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import { createApi } from './api/server.ts';
import { vendorWords } from './api/vendor-words.ts';
import type { Config } from './config.ts';
import { createSealer } from './lib/sealed-secret.ts';
import { modules } from './modules/index.ts';
import { Ref } from './modules/module.ts';
import { Publisher } from './publisher/publisher.ts';
import { resources } from './resources/index.ts';
import type { Offers, ResourceContext } from './resources/resource.ts';
import { AccessTable } from './snapshot/access.ts';
import { openStore } from './store/store.ts';

export type Logger = FastifyBaseLogger;

/** A running Gatehouse. Disposing of it stops it. */
export interface App extends AsyncDisposable {
  readonly api: FastifyInstance;
  readonly context: ResourceContext;
  /** Where the API listens; undefined while it does not. */
  readonly apiUrl: string | undefined;
  /** Of the first API key, on the first start only. */
  readonly firstToken: string | undefined;
}

/** Opens the database, brings it up to date, and puts the resources together over it. */
export async function openContext(config: Config, log: Logger): Promise<ResourceContext> {
  const store = await openStore({
    url: config.databaseUrl,
    migrations: resources.flatMap(({ migrations }) => migrations),
    onFeedFault: (error) => {
      log.error({ err: error }, 'cannot read what other processes have changed; trying again');
    },
  });
  const offers: Partial<Offers> = {};
  const context: ResourceContext = {
    store,
    settings: { tcpPorts: config.tcpPorts, httpsPort: config.httpsPort },
    sealer: createSealer(config.secretKey),
    // Complete after the loop below; `ResourceContext` says that nobody looks before.
    offers: offers as Offers,
  };
  for (const resource of resources) Object.assign(offers, resource.offers?.(context));
  return context;
}

export async function startApp(config: Config, log: Logger): Promise<App> {
  const context = await openContext(config, log);
  try {
    const firstToken = await context.offers.bootstrap.run(config.bootstrapToken);
    const access = new AccessTable();
    const publisher = await startPublisher(context, access, log);
    const api = await createApi({
      operations: resources.flatMap((resource) => resource.operations(context)),
      schemas: [Ref, ...modules.flatMap(({ input, view }) => [input, view]), ...resources.flatMap(({ schemas }) => schemas)],
      authenticator: context.offers.authenticator,
      access,
      warned: () => {},
      unready: () => (publisher.lagging ? 'the newest change is not yet in force' : undefined),
      publicUrl: config.publicUrl,
      vendor: vendorWords(config.vendor),
      trustedProxies: config.trustedProxies,
      rateLimit: config.rateLimit,
      logger: log,
    });
    const apiUrl = await api.listen(config.apiListen);
    return {
      api,
      context,
      apiUrl,
      // A token that the operator has chosen is known already, and stays out of the output.
      firstToken: config.bootstrapToken === undefined ? firstToken : undefined,
      async [Symbol.asyncDispose]() {
        await api.close();
        await context.store[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await context.store[Symbol.asyncDispose]();
    throw error;
  }
}

function startPublisher(context: ResourceContext, access: AccessTable, log: Logger): Promise<Publisher> {
  return Publisher.start({
    store: context.store,
    compilers: resources.flatMap((resource) => resource.compilers?.(context) ?? []),
    targets: [
      async (update) => {
        access.prepare(update)();
      },
    ],
    onFault: (error, version) => {
      log.error({ err: error, version }, 'a change is stored but not in force');
    },
  });
}

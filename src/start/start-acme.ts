import { keyOf } from '../acme/plan.ts';
import type { WantedName } from '../acme/plan.ts';
import type { ServedNames } from '../acme/served-names.ts';
import type { Config } from '../config/config.ts';
import { acmeStorage } from '../resources/acme/service.ts';
import { principals } from '../resources/principals/service.ts';
import { managedDomains } from '../resources/reserved-domains/service.ts';
import type { ResourceContext } from '../resources/resource.ts';
import { StoreUnavailableError } from '../store/database.ts';
import type { Observers } from './observers.ts';

interface AcmeParts extends Pick<Observers, 'metrics' | 'log'> {
  readonly context: ResourceContext;
  readonly served: ServedNames;
}

/** The kind of changes that the snapshot does not show, and after which another name may want a certificate. */
const reservedDomainKind = 'reserved_domain';

/** Starts to look after public certificates, as the settings ask for it. */
export async function startAcme(config: Config, parts: AcmeParts): Promise<AsyncDisposable> {
  const { context, served, metrics, log } = parts;
  // The libraries of ACME are large, and most installations do without.
  const { AcmeManager } = await import('../acme/manager.ts');
  const { services, store } = context;
  const { acmeDnsHook, acmeEabKid, acmeEabKey } = config;
  const manager = new AcmeManager({
    storage: services.get(acmeStorage),
    hook: acmeDnsHook === undefined ? undefined : { program: acmeDnsHook, limitMs: config.acmeDnsHookSeconds * 1000 },
    challenges: config.acmeChallenges,
    ordersPerHour: config.acmeOrdersPerHour,
    keepMs: config.acmeKeepDays * 86_400_000,
    authority: {
      directory: config.acmeDirectory,
      email: config.acmeEmail,
      externalAccount:
        acmeEabKid === undefined || acmeEabKey === undefined ? undefined : { kid: acmeEabKid, hmacKey: acmeEabKey },
    },
    look: async () => ({
      wanted: await wantedNames(context, served),
      certificates: served.certificates,
      accounts: await services.get(principals).countAccounts(),
    }),
    isOutage: (error) => error instanceof StoreUnavailableError,
    log,
    onOrder: (outcome) => {
      metrics.certificateOrdered(outcome);
    },
  });
  const look = () => {
    manager.look();
  };
  served.watch(look);
  store.follow({
    changed: (changes) => {
      if (changes.some(({ kind }) => kind === reservedDomainKind)) look();
    },
    reset: look,
  });
  manager.start();
  return manager;
}

/** The names of edges and agents, and reserved ones, each once; what its owner has chosen for a reserved one counts. */
async function wantedNames(
  { services, store, settings }: ResourceContext,
  served: ServedNames,
): Promise<readonly WantedName[]> {
  const reserved = await services.get(managedDomains).list(store.queries);
  const wanted = new Map<string, WantedName>(
    served.names.map((name) => [keyOf(name), { ...name, keyType: 'ecdsa', isManaged: false }]),
  );
  for (const { accountId, hostname, keyType } of reserved) {
    const isManaged = keyType !== undefined;
    wanted.set(keyOf({ accountId, hostname }), { accountId, hostname, keyType: keyType ?? 'ecdsa', isManaged });
  }
  // A name of the installation that an account has from before could otherwise be shown as the installation itself.
  const refused = new Set<WantedName>();
  for (const name of wanted.values())
    if ((await settings.ownNames.refusalOf(name.hostname)) !== undefined) refused.add(name);
  return [...wanted.values()].filter((name) => !refused.has(name));
}

import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';

import type { LocalCa } from '../../gateway/certificates/local-ca.ts';
import { LocalLeaves } from '../../gateway/certificates/local-leaves.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { parseHostname } from '../../lib/host-port.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import { reservedNames } from '../../resources/reserved-domains/service.ts';
import type { ResourceContext } from '../../resources/resource.ts';
import { uploadedPairs } from '../../resources/tls-certificates/service.ts';

const maxContexts = 100;
/** Kinds of changes after which another certificate may be the right one. */
const kinds: ReadonlySet<string> = new Set(['tls_certificate', 'reserved_domain']);

/** Certificates of the listener of agents. */
export class AgentCertificates {
  readonly #context: ResourceContext;
  readonly #leaves: LocalLeaves;
  #uploaded = new BoundedCache<string, SecureContext>(maxContexts);

  constructor(context: ResourceContext, localCa: LocalCa) {
    this.#context = context;
    this.#leaves = new LocalLeaves(localCa);
    context.store.follow({
      changed: (changes) => {
        if (changes.some(({ kind }) => kinds.has(kind))) this.#forget();
      },
      reset: () => {
        this.#forget();
      },
    });
  }

  /**
   * The certificate for a server name: one that was uploaded by the account which has reserved the name, else a leaf of
   * the local CA. Of other accounts none is served: anybody could upload one for a name that is not theirs, and all
   * agents that use it would fail. A connection without a name gets a leaf for the address that it came to.
   */
  async contextFor(name: string | undefined, localAddress: string): Promise<SecureContext | undefined> {
    if (name === undefined) {
      const ip = parseIp(localAddress);
      return ip && this.#leaves.contextFor(formatIp(ip), Date.now());
    }
    const hostname = parseHostname(name, { wildcard: false });
    if (hostname === undefined) return undefined;
    return (await this.#uploadedFor(hostname)) ?? this.#leaves.contextFor(hostname, Date.now());
  }

  async #uploadedFor(hostname: string): Promise<SecureContext | undefined> {
    const kept = this.#uploaded.get(hostname);
    if (kept !== undefined) return kept;
    const { services, store } = this.#context;
    const cache = this.#uploaded;
    const ticket = cache.ticket();
    const accountId = await services.get(reservedNames).accountOf(store.queries, hostname);
    const pair = accountId && (await services.get(uploadedPairs).find(store.queries, accountId, hostname));
    if (!pair) return undefined;
    const context = createSecureContext({ cert: pair.certificatePem, key: pair.privateKeyPem });
    cache.fill(ticket, hostname, context);
    return context;
  }

  #forget(): void {
    this.#uploaded = new BoundedCache(maxContexts);
  }
}

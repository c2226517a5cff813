import { createHash } from 'node:crypto';

import type { BindRequest, LabelsRequest } from '../../agents/wire/bind.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Sealer } from '../../lib/sealed-secret.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { ResourceContext, ResourceSettings } from '../resource.ts';
import { poolFull } from '../endpoints/errors.ts';
import { cloudEndpointService, mostInPool } from '../endpoints/service.ts';
import type { Services } from '../services.ts';
import { claimIdOf, claimOf, refuseByAcl } from './choice.ts';
import type { Choice, Claimant, Place } from './choice.ts';
import { chooseName } from './choose-name.ts';
import { kindOf } from './endpoints-at.ts';
import { choosePort } from './choose-port.ts';
import { internalPlace } from './internal-place.ts';
import * as errors from './errors.ts';
import { EndpointOnline } from './liveness.ts';
import type { AcceptedOptions } from './options.ts';
import { membersOf } from './rows.ts';
import type { TunnelRows } from './rows.ts';
import { tunnelClaims } from './table.ts';
import type { Tunnel, TunnelClaim } from './table.ts';

type ClaimsParts = Pick<ResourceContext, 'services' | 'settings' | 'sealer'>;

interface Wanted {
  readonly place: Place;
  readonly options: AcceptedOptions;
  /** Undefined for labels. */
  readonly request: BindRequest | undefined;
}

/** Labels have no options of their own: those of the edges that name them hold. */
const noOptions: AcceptedOptions = { modules: {}, proxy_proto: 0, sealTermination: () => null, differing: () => [] };

/** Decides who gets which name, port or labels; in the transaction that stores it. */
export class Claims {
  readonly #services: Services;
  readonly #settings: ResourceSettings;
  readonly #rows: TunnelRows;
  readonly #sealer: Sealer;

  constructor({ services, settings, sealer }: ClaimsParts, rows: TunnelRows) {
    this.#services = services;
    this.#sealer = sealer;
    this.#settings = settings;
    this.#rows = rows;
  }

  async takeEndpoint(
    writer: ObservationWriter,
    claimant: Claimant,
    request: BindRequest,
    options: AcceptedOptions,
  ): Promise<TunnelClaim> {
    const choice = { services: this.#services, settings: this.#settings, writer, claimant, request };
    const place = await choosePlace(choice);
    return this.#take(writer, claimant, { place, options, request });
  }

  /** Labels belong to nobody; the claim only finds the id that the same agent had for them before. */
  async takeLabels(writer: ObservationWriter, claimant: Claimant, { labels }: LabelsRequest): Promise<TunnelClaim> {
    const { credential, clientId } = claimant;
    if (!credential.acl.allowsLabels(labels)) throw refuseByAcl(claimant, `the labels ${quote(labels)}`);
    const sorted = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const digest = createHash('sha256')
      .update(JSON.stringify([clientId, sorted]))
      .digest('base64url');
    // One agent may bind the same labels several times.
    for (let ordinal = 0; ; ordinal++) {
      const key = `labels ${digest} ${ordinal}`;
      const existing = await claimOf(writer, key);
      if (existing !== undefined && (await membersOf(writer, existing.id)).length > 0) continue;
      const place = { kind: 'labels', key, url: '', hostname: null, port: null, labels } as const;
      return this.#take(writer, claimant, { place, options: noOptions, request: undefined });
    }
  }

  /** Throws if a cloud endpoint shares the place of a tunnel. */
  async checkAlone(writer: ObservationWriter, { claim_id, account_id, url }: Tunnel): Promise<void> {
    const claim = await tunnelClaims.load(writer, claim_id);
    if (claim === undefined || claim.labels !== null) return;
    const there = await this.#services.get(cloudEndpointService).at(writer, account_id, claim);
    if (there.length > 0) throw new UserError(errors.endpointOnline, { url });
  }

  /** Throws if a cloud endpoint is there, unless both share the place. */
  async #checkCloud(writer: ObservationWriter, accountId: string, { place, request }: Wanted): Promise<void> {
    if (place.labels !== null) return;
    const there = await this.#services.get(cloudEndpointService).at(writer, accountId, place);
    if (there.length === 0) return;
    const isShared =
      request?.poolingEnabled === true && there.every((each) => each.isPooled && kindOf(each) === place.kind);
    if (!isShared) throw new UserError(errors.endpointOnline, { url: place.url });
  }

  /** Throws unless what is wanted is free, was held for the account, or is shared by all who have it. */
  async #take(
    writer: ObservationWriter,
    { clientId, sessionId, credential: { accountId } }: Claimant,
    wanted: Wanted,
  ): Promise<TunnelClaim> {
    const { place, options, request } = wanted;
    await this.#checkCloud(writer, accountId, wanted);
    const found = await claimOf(writer, place.key);
    // Other accounts were refused above while it was theirs; this one is over and not swept yet.
    if (found !== undefined && found.account_id !== accountId) await this.#rows.removeClaim(writer, found);
    const existing = found?.account_id === accountId ? found : undefined;
    const members = existing === undefined ? [] : await membersOf(writer, existing.id);
    if (existing !== undefined && members.length > 0) {
      checkShareable(members, wanted, existing, sessionId);
      if (members.length >= mostInPool) throw new UserError(poolFull, { url: existing.url, limit: mostInPool });
      if (existing.plain === true || place.plain !== true) return existing;
      // The second of the two binds of an older agent.
      const plain = { ...existing, plain: true };
      await this.#rows.replaceClaim(writer, plain);
      return plain;
    }
    const { modules, proxy_proto } = options;
    const tls_termination = options.sealTermination(this.#sealer, place.key);
    const taken = { ...place, modules, proxy_proto, tls_termination, client_id: clientId, held_until_ms: null };
    if (existing !== undefined) {
      const claim = { ...existing, ...taken };
      await this.#rows.replaceClaim(writer, claim);
      return claim;
    }
    const fresh = tunnelClaims.newDocument(accountId);
    const former = request === undefined || request.id === '' ? '' : claimIdOf(request.id);
    const isFree = former !== '' && (await tunnelClaims.load(writer, former)) === undefined;
    const claim: TunnelClaim = { ...fresh, ...taken, id: isFree ? former : fresh.id };
    await this.#rows.addClaim(writer, claim);
    return claim;
  }
}

async function choosePlace(choice: Choice): Promise<Place> {
  return internalPlace(choice) ?? (choice.request.proto === 'tcp' ? choosePort(choice) : chooseName(choice));
}

function checkShareable(
  members: readonly Tunnel[],
  { place, options, request }: Wanted,
  existing: TunnelClaim,
  sessionId: string,
): void {
  const { url } = existing;
  // Older agents bind a name twice, as https and as http.
  const isTwin = members.every(({ session_id, proto }) => session_id === sessionId && proto !== request?.proto);
  const isPool = request?.poolingEnabled === true && members.every(({ pooling_enabled }) => pooling_enabled);
  if (existing.kind !== place.kind || (!isTwin && !isPool)) throw new EndpointOnline(url, members);
  const isOtherScheme = !isTwin && (existing.plain ?? false) !== (place.plain ?? false);
  const differing = [...options.differing(existing), ...(isOtherScheme ? ['http or https'] : [])];
  if (differing.length > 0) throw new UserError(errors.poolDiffers, { url, differing: differing.join(', ') });
}

import { quote, UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { findNameUse } from '../hostname-holders.ts';
import { nameUsers } from '../name-users.ts';
import { ownersOfPort } from '../port-holders.ts';
import { reservedPorts } from '../reserved-addrs/service.ts';
import { reservedNames } from '../reserved-domains/service.ts';
import type { ResourceContext } from '../resource.ts';
import { agentTunnels } from '../tunnels/service.ts';
import * as errors from './errors.ts';
import type { Place } from './read-url.ts';
import { mostInPool } from './service.ts';
import { cloudEndpoints, endpointsAt, partsOf } from './table.ts';
import type { CloudEndpoint } from './table.ts';

type Parts = Pick<ResourceContext, 'services' | 'settings'>;
type Wanted = Pick<CloudEndpoint, 'id' | 'account_id' | 'pooling_enabled'> & { readonly place: Place };

/** Throws unless the endpoint may be there: reserved by its account, and free or shared by all who are there. */
export async function checkPlace(parts: Parts, transaction: Transaction, wanted: Wanted): Promise<void> {
  if (wanted.place.binding === 'public') await checkReserved(parts, transaction, wanted);
  await checkEndpoints(transaction, wanted);
  await checkAgents(parts, transaction, wanted);
  if (wanted.place.binding === 'public') await checkEdges(parts, transaction, wanted);
}

async function checkReserved({ services, settings }: Parts, transaction: Transaction, wanted: Wanted): Promise<void> {
  const { account_id, place } = wanted;
  const { scheme, hostname, port } = place.parts;
  const url = quote(place.url);
  if (scheme === 'tcp') {
    const isOwn = (await services.get(reservedPorts).find(transaction, account_id, port)) !== undefined;
    if (isOwn && hostname === settings.agentDomain) return;
    const remedy = `POST /reserved_addrs gives one; its host is ${settings.agentDomain}.`;
    throw new UserError(errors.notReserved, { what: 'reserved address', url, remedy });
  }
  await settings.ownNames.check(hostname);
  if ((await services.get(reservedNames).find(transaction, account_id, hostname)) !== undefined) return;
  const remedy = `Reserve the name first: POST /reserved_domains with the domain ${quote(hostname)}.`;
  throw new UserError(errors.notReserved, { what: 'reserved domain', url, remedy });
}

async function checkEndpoints(transaction: Transaction, wanted: Wanted): Promise<void> {
  const { id, account_id, place, pooling_enabled } = wanted;
  const url = quote(place.url);
  const there = (await endpointsAt(transaction, account_id, 'url', place.url)).filter((each) => each.id !== id);
  const [first] = there;
  if (first === undefined) return;
  if (!pooling_enabled) throw new UserError(errors.urlTaken, { url, id: first.id });
  if (!first.isPooled) throw new UserError(errors.poolingMixed, { url, users: `the endpoint ${first.id}` });
  if (there.length >= mostInPool) throw new UserError(errors.poolFull, { url, limit: mostInPool });
}

async function checkAgents({ services }: Parts, transaction: Transaction, wanted: Wanted): Promise<void> {
  const { account_id, place, pooling_enabled } = wanted;
  const there = await services.get(agentTunnels).at(transaction, account_id, {
    ...place.parts,
    isInternal: place.binding === 'internal',
  });
  const [first] = there;
  if (first === undefined) return;
  const url = quote(place.url);
  const users = `the agent of the tunnel ${first.id}`;
  if (!pooling_enabled || there.some(({ isOtherKind }) => isOtherKind))
    throw new UserError(errors.urlInUse, { url, users });
  if (there.some((each) => !each.isPooled)) throw new UserError(errors.poolingMixed, { url, users });
}

/** Edges share nothing, and neither do endpoints of other schemes that are told apart by the name in a TLS handshake. */
async function checkEdges({ services }: Parts, transaction: Transaction, wanted: Wanted): Promise<void> {
  const { id, account_id, place } = wanted;
  const { scheme, hostname, port } = place.parts;
  const url = quote(place.url);
  if (scheme === 'tcp') {
    const owners = await ownersOfPort(services, transaction, port);
    const other = owners.find(
      (each) => each.accountId !== account_id || (!each.reserves && !cloudEndpoints.mayHave(each.id)),
    );
    if (other === undefined) return;
    const users =
      other.accountId === account_id ? await nameUsers(transaction, account_id, [other.id]) : 'another account';
    throw new UserError(errors.urlInUse, { url, users });
  }
  const { isElsewhere, users } = await findNameUse(services, transaction, account_id, hostname);
  if (isElsewhere) throw new UserError(errors.urlInUse, { url, users: 'another account' });
  const others = new Map(
    (await endpointsAt(transaction, account_id, 'hostname', hostname)).map((each) => [each.id, partsOf(each).scheme]),
  );
  const other = users.find((user) => {
    const rival = others.get(user);
    if (user === id) return false;
    return rival === undefined || (rival !== scheme && rival !== 'http' && scheme !== 'http');
  });
  if (other !== undefined)
    throw new UserError(errors.urlInUse, { url, users: await nameUsers(transaction, account_id, [other]) });
}

import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { parseHostPort } from '../../lib/host-port.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { mapInTurns } from '../../lib/map-in-turns.ts';
import type { AddressFlip, BackendReport } from '../../observe/backend-health.ts';
import { processes } from '../processes/service.ts';
import type { ResourceContext } from '../resource.ts';
import { toBalanceEntry } from './balance.ts';
import { backendNotFound } from './errors.ts';
import { readReports, readReportsOfAccount } from './health-table.ts';
import { seenBackends } from './service.ts';
import type { WatchedBackend, WatchedBackends } from './service.ts';
import { staticBackends } from './table.ts';
import type { StaticBackend } from './table.ts';
import { path } from './writes.ts';

const state = (description: string) =>
  Type.String({ enum: ['up', 'down', 'unchecked'], description, examples: ['up'] });
const timestamp = (description: string) =>
  Type.String({ format: 'date-time', description: `${description}, RFC 3339.` });
const gateway = {
  gateway_id: Type.String({ description: 'Id of the process, as GET /gateways has it.' }),
  host: Type.Optional(Type.String({ description: 'Name of its machine; only admins are told.' })),
};
const by = Type.Optional(
  Type.String({ enum: ['check', 'traffic'], description: 'Source of the verdict: an active check, or real traffic.' }),
);

export const StaticBackendHealthView = Type.Object(
  {
    id: Type.String({ description: 'Id of the backend.' }),
    uri: Type.String({ description: 'URI of this view.' }),
    state: Type.String({
      enum: ['up', 'in_part', 'down', 'unchecked', 'unwatched'],
      description:
        'up: no gateway misses an address. in_part: some address is down for some gateway. down: all addresses with a weight are down ' +
        'for all gateways. unchecked: nothing has been seen yet. unwatched: there is one address and no check, so that nobody looks.',
      examples: ['in_part'],
    }),
    addresses: Type.Array(
      Type.Object({
        address: Type.String({ description: 'The address, as host:port.' }),
        weight: Type.Integer({ description: 'Share of the address; 0: it gets no traffic.' }),
        gateways: Type.Array(
          Type.Object({
            ...gateway,
            state: state(
              'State at that gateway: down: it sends nothing there. unchecked: it has seen nothing yet, and sends.',
            ),
            since: Type.Optional(
              timestamp('Since when the address has been in that state; absent: since the process began'),
            ),
            by,
            cause: Type.Optional(Type.String({ description: 'The last failure, while there is one.' })),
            failures: Type.Integer({ description: 'Failures in a row, of checks or of traffic.' }),
            checked_at: Type.Optional(
              timestamp('When the last active check was reported; once a minute while nothing changes'),
            ),
            check_ms: Type.Optional(Type.Number({ description: 'Time that this check took, in milliseconds.' })),
          }),
          { description: 'The view of each gateway.' },
        ),
      }),
      { description: 'In the order of the backend.' },
    ),
    flips: Type.Array(
      Type.Object({
        at: timestamp('When it happened'),
        ...gateway,
        address: Type.String({ description: 'The address that went down or came back.' }),
        state: Type.String({ enum: ['up', 'down'], description: 'The state from then on.' }),
        by,
        cause: Type.Optional(Type.String({ description: 'Why it was taken out.' })),
      }),
      { description: 'The last times that an address went down or came back, newest first; up to 20 of each gateway.' },
    ),
  },
  { $id: 'StaticBackendHealth' },
);

interface Seen {
  readonly id: string;
  readonly hostname: string;
  readonly report: BackendReport | undefined;
}

/** Shows what every gateway sees of the addresses of a backend. */
export function healthOperation({ store, services }: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: `${path}/{id}/health`,
    operationId: 'StaticBackendsHealth',
    summary: 'Show how the addresses of a static backend do',
    description:
      'What each gateway sees of each address by its checks and its traffic. Each decides for itself; others than the one that answers ' +
      'report changes within a second or two.',
    tag: 'Static backends',
    status: 200,
    response: StaticBackendHealthView,
    errors: [backendNotFound],
    handle: async ({ caller, params, uri }) => {
      const { id = '' } = params;
      const backend = await staticBackends.find(store.queries, caller.accountId, id);
      if (backend === undefined) throw new UserError(backendNotFound, { noun: 'static backend', id: quote(id) });
      const reports = await readReports(store.queries, id);
      const all = await services.get(processes).list();
      const seen = all
        .filter(({ role }) => role !== 'api' && role !== 'agents')
        .map(({ id: processId, hostname, isSelf }) => ({
          id: processId,
          hostname,
          report: isSelf ? services.get(seenBackends).read(id) : reports.get(processId),
        }));
      return present(backend, seen, caller, uri(`${path}/${id}/health`));
    },
  });
}

/** Backends whose reports are read at most. */
const mostBackends = 2_000;

export function watchedOf({ store, services }: Pick<ResourceContext, 'store' | 'services'>): WatchedBackends {
  return {
    async ofAccount(accountId) {
      const stored = await readReportsOfAccount(store.queries, accountId, mostBackends);
      if (stored.length === 0) return [];
      const alive = new Map((await services.get(processes).list()).map((each) => [each.id, each]));
      const own = services.get(seenBackends);
      const byBackend = Map.groupBy(
        stored.filter(({ processId }) => alive.has(processId)),
        ({ backend }) => backend,
      );
      const watched = await mapInTurns(byBackend, ([document, reports]) => {
        const backend = staticBackends.parse([document]);
        return joinReports(
          backend,
          // Only `writeReports` writes them.
          reports.map(({ processId, report }) =>
            alive.get(processId)?.isSelf === true ? own.read(backend.id) : (JSON.parse(report) as BackendReport),
          ),
        );
      });
      return watched.filter((each) => each !== undefined);
    },
  };
}

function joinReports(
  backend: StaticBackend,
  reports: readonly (BackendReport | undefined)[],
): WatchedBackend | undefined {
  if (toBalanceEntry(backend) === undefined) return undefined;
  const { id, address: first, addresses: all = [{ address: first, weight: 1 }] } = backend;
  const used = all
    .filter(({ weight }) => weight > 0)
    .map(({ address }) => ({ address, views: reports.map((report) => viewOf(report, address)) }));
  const [fault] = used.flatMap(({ address, views }) =>
    views.flatMap(({ state: each, since, cause }) => (each === 'down' ? [{ address, since, cause }] : [])),
  );
  return {
    id,
    state: joinStates(used.flatMap(({ views }) => views.map((view) => view.state))),
    addresses: used.length,
    answering: used.filter(({ views }) => views.every((view) => view.state !== 'down')).length,
    ...(fault === undefined ? {} : { fault }),
  };
}

function present(backend: StaticBackend, seen: readonly Seen[], { principal }: Call['caller'], uri: string) {
  const { id, address: first, addresses: stored = [{ address: first, weight: 1 }] } = backend;
  const named = ({ id: gatewayId, hostname }: Seen) => ({
    gateway_id: gatewayId,
    ...(principal.role === 'admin' ? { host: hostname } : {}),
  });
  const isWatched = toBalanceEntry(backend) !== undefined;
  const addresses = stored.map(({ address, weight }) => ({
    address,
    weight,
    gateways: isWatched ? seen.map((each) => ({ ...named(each), ...viewOf(each.report, address) })) : [],
  }));
  const flips = seen
    .flatMap((each) => (each.report?.flips ?? []).map((flip) => ({ flip, each })))
    .toSorted((a, b) => b.flip.atMs - a.flip.atMs)
    .map(({ flip, each }) => ({ at: toTimestamp(flip.atMs), ...named(each), ...flipOf(flip) }));
  const states = addresses
    .filter(({ weight }) => weight > 0)
    .flatMap(({ gateways }) => gateways.map((each) => each.state));
  return { id, uri, state: isWatched ? joinStates(states) : 'unwatched', addresses, flips };
}

function joinStates(states: readonly string[]): WatchedBackend['state'] {
  if (states.includes('down')) return states.every((each) => each === 'down') ? 'down' : 'in_part';
  return states.includes('up') ? 'up' : 'unchecked';
}

function viewOf(report: BackendReport | undefined, address: string) {
  const wanted = canonical(address);
  const found = report?.addresses.find((each) => canonical(each.address) === wanted);
  if (found === undefined) return { state: 'unchecked', failures: 0 };
  const { state: current, sinceMs, by: whose, cause, failures, check } = found;
  return {
    state: current,
    since: sinceMs === undefined ? undefined : toTimestamp(sinceMs),
    by: whose,
    cause,
    failures,
    checked_at: check && toTimestamp(check.atMs),
    check_ms: check && Math.round(check.tookMs * 10) / 10,
  };
}

function flipOf({ address, state: to, by: whose, cause }: AddressFlip) {
  return { address, state: to, by: whose, cause };
}

/** The gateway writes hosts in lower case. */
function canonical(address: string): string {
  const parsed = parseHostPort(address);
  return parsed.ok ? `${parsed.host} ${parsed.port}` : address;
}

import assert from 'node:assert/strict';

import type { Answer, CallOptions, Gatehouse } from '../../support/gatehouse.ts';
import { decision, openDecisions } from '../../support/decisions.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { newId } from '../../../src/lib/ids.ts';
import { gatewaySuffix } from '../../../src/decisions/gateway-suffix.ts';
import type { Decisions } from '../../../src/decisions/decisions.ts';
import { recordedId, unique } from './examples.ts';
import { keptDecisions } from '../../../src/resources/decisions/service.ts';
import { inspections } from '../../../src/resources/inspections/service.ts';
import { visitors } from '../../../src/resources/visitors/service.ts';
import { signIn } from '../../agents/support/sign-in.ts';
import { exampleOf } from './load-examples.ts';
import { findOperation } from './operations.ts';
import type { ApiOperation } from './operations.ts';

/** A call that is ready to be made: the resources named in its path and body exist. */
export interface Prepared {
  readonly path: string;
  readonly body: unknown;
  /** Values of the path parameters. */
  readonly ids: readonly string[];
}

/** Ids of resources by the path of their collection. */
type MadeIds = Map<string, string>;

/** An account, as one of its principals uses it. */
export class Account {
  readonly gatehouse: Gatehouse;
  readonly token: string;
  readonly principalId: string;

  private constructor(gatehouse: Gatehouse, token: string, principalId: string) {
    this.gatehouse = gatehouse;
    this.token = token;
    this.principalId = principalId;
  }

  static async of(gatehouse: Gatehouse, token: string): Promise<Account> {
    // A key created without an owner belongs to the caller.
    const { owner_id } = await gatehouse.create('/api_keys', {}, { token });
    return new Account(gatehouse, token, String(owner_id));
  }

  async call(
    { method }: ApiOperation,
    { path, body }: Pick<Prepared, 'path' | 'body'>,
    options: CallOptions = {},
  ): Promise<Answer> {
    const answer = await this.gatehouse.call(method, path, body, { token: this.token, ...options });
    checkHeaders(answer);
    return answer;
  }

  /** Creates a resource in the collection at this path. */
  make(path: string): Promise<{ readonly id: string; readonly token?: string }> {
    return this.#makeAt(path, path);
  }

  /** Creates everything that the operation needs in order to succeed. */
  async prepare(operation: ApiOperation, made: MadeIds = new Map()): Promise<Prepared> {
    const { path, ids } = await this.#fillPath(operation.path, made);
    const setBefore = operation.method === 'PUT' ? undefined : findOperation('PUT', operation.path);
    if (setBefore !== undefined) {
      const answer = await this.call(setBefore, { path, body: await this.#body(setBefore) });
      assert.equal(answer.status, setBefore.successStatus, `${setBefore.id} answered ${answer.text}`);
    }
    return { path, ids, body: operation.bodySchema === undefined ? undefined : await this.#body(operation) };
  }

  /** Prepares many operations; returns a lookup of the results. */
  prepareAll(operations: readonly ApiOperation[]): Promise<(operation: ApiOperation) => Prepared> {
    return this.#prepareEach(operations, () => new Map());
  }

  /** The same for operations that will change nothing: what their paths have in common is created once. */
  prepareUnchanged(operations: readonly ApiOperation[]): Promise<(operation: ApiOperation) => Prepared> {
    const made: MadeIds = new Map();
    return this.#prepareEach(operations, () => made);
  }

  async #prepareEach(
    operations: readonly ApiOperation[],
    madeFor: () => MadeIds,
  ): Promise<(operation: ApiOperation) => Prepared> {
    const all = new Map<ApiOperation, Prepared>();
    for (const operation of operations) all.set(operation, await this.prepare(operation, madeFor()));
    return (operation) => {
      const prepared = all.get(operation);
      assert.ok(prepared, operation.id);
      return prepared;
    };
  }

  /** Fills in the path, with a new resource for each of its parameters that none was made for. */
  async #fillPath(
    template: string,
    made: MadeIds,
  ): Promise<{ readonly path: string; readonly ids: readonly string[] }> {
    let path = '';
    let collection = '';
    const ids: string[] = [];
    for (const segment of template.slice(1).split('/')) {
      const isParameter = segment.startsWith('{');
      if (isParameter) {
        const id = made.get(path) ?? (await this.#makeAt(collection, path)).id;
        made.set(path, id);
        ids.push(id);
      }
      path += `/${isParameter ? ids.at(-1) : segment}`;
      collection += `/${segment}`;
    }
    return { path, ids };
  }

  async #makeAt(collection: string, path: string): Promise<{ readonly id: string; readonly token?: string }> {
    const online = madeByAgents.get(collection);
    if (online !== undefined) return { id: online(await connectAgent(this)) };
    const visited = madeByVisitors.get(collection);
    if (visited !== undefined) return { id: visited(await signVisitorIn(this)) };
    if (collection === '/changes') return this.#newestChange();
    if (collection === '/decisions') return { id: await keepDecision(this) };
    if (collection === '/users') return this.#newUser();
    const create = findOperation('POST', collection);
    assert.ok(create, `nothing can be created at ${collection}: teach ${import.meta.filename} how an example is made`);
    const answer = await this.call(create, { path, body: await this.#body(create) });
    assert.equal(answer.status, 201, `${create.id} answered ${answer.text}`);
    if (collection === '/inspections') await recordRequest(this, answer.body);
    return answer.body;
  }

  async #newestChange(): Promise<{ readonly id: string }> {
    const { id } = await this.make('/ip_policies');
    const { body } = await this.gatehouse.get(`/changes?resource_id=${id}`, { token: this.token });
    return body.changes[0];
  }

  async #newUser(): Promise<{ readonly id: string; readonly token: string }> {
    const { link } = await this.gatehouse.create('/invitations', await this.#exampleOf('/invitations'), {
      token: this.token,
    });
    const { body } = await this.gatehouse.post('/invitations/accept', { link });
    return { id: body.user_id, token: body.token };
  }

  async #exampleOf(path: string): Promise<unknown> {
    const create = findOperation('POST', path);
    assert.ok(create);
    return this.#body(create);
  }

  async #body({ id, path }: ApiOperation): Promise<unknown> {
    const make = exampleOf(id, path);
    assert.ok(make, `add an example of a body for ${id} to the contract-examples.ts of its folder`);
    return make(this);
  }
}

interface OnlineAgent {
  readonly sessionId: string;
  readonly tunnelId: string;
}

/** Resources that nobody creates through the API: an agent is there for each. */
const madeByAgents: ReadonlyMap<string, (agent: OnlineAgent) => string> = new Map([
  ['/tunnel_sessions', ({ sessionId }: OnlineAgent) => sessionId],
  ['/tunnels', ({ tunnelId }: OnlineAgent) => tunnelId],
]);

interface SignedIn {
  readonly sessionId: string;
  readonly userId: string;
}

/** The same: somebody signs in for each. */
const madeByVisitors: ReadonlyMap<string, (visitor: SignedIn) => string> = new Map([
  ['/app/sessions', ({ sessionId }: SignedIn) => sessionId],
  ['/app/users', ({ userId }: SignedIn) => userId],
]);

/** True for collections of which an example is made by something else than a POST there. */
export function isMadeOtherwise(collection: string): boolean {
  return (
    madeByAgents.has(collection) || madeByVisitors.has(collection) || ['/users', '/decisions'].includes(collection)
  );
}

/** Keeps a decision as a gateway does; the store is opened when the first one is. */
async function keepDecision({ gatehouse, token }: Account): Promise<string> {
  const { services, store } = gatehouse.app.context;
  const opened = services.find(keptDecisions) ?? (await openDecisions(scratchFolder()));
  if (services.find(keptDecisions) === undefined) services.provide(keptDecisions, opened);
  // The whole of it is provided.
  const decisions = opened as Decisions;
  const edge = await gatehouse.create('/edges/https', {}, { token });
  const [row] = await store.queries.all('SELECT account_id FROM https_edges WHERE id = $1', [edge.id]);
  const accountId = String(row?.[0]);
  decisions.add(accountId, decision({ edge_id: edge.id, route_id: '' }));
  const { rows } = await decisions.ask('list', { accountId, limit: 1 });
  return `dec_${String(rows[0]?.number).padStart(17, '0')}${gatewaySuffix(decisions.gateway)}`;
}

/** Records a request as a gateway does, of the id that examples name. */
async function recordRequest(
  { gatehouse, token }: Account,
  { id: inspectionId, subject_id: edgeId }: { readonly id: string; readonly subject_id?: string },
): Promise<void> {
  const { services, store } = gatehouse.app.context;
  const host = `recorded-${unique()}.example.com`;
  await gatehouse.patch(`/edges/https/${edgeId}`, { hostports: [`${host}:443`] }, { token });
  const [row] = await store.queries.all('SELECT account_id FROM https_edges WHERE id = $1', [String(edgeId)]);
  services.get(inspections).inspected({
    inspectionId,
    accountId: String(row?.[0]),
    id: recordedId,
    atMs: Date.now(),
    edgeId: String(edgeId),
    entryId: String(edgeId),
    routeId: String(edgeId),
    source: '192.0.2.1',
    method: 'GET',
    target: '/',
    host,
    protocol: '1.1',
    request: { headers: [], bodyBytes: 0, isBodyWhole: true },
    answer: undefined,
    durationMs: 1,
    isWhole: true,
    isTls: true,
    isHeadWhole: true,
    replayOf: undefined,
    leftOut: 0,
  });
}

/** Tells what a gateway tells when somebody has signed in. */
async function signVisitorIn({ gatehouse, token }: Account): Promise<SignedIn> {
  const kept = gatehouse.app.context.services.get(visitors);
  const edge = await gatehouse.create('/edges/https', {}, { token });
  const [row] = await gatehouse.app.context.store.queries.all('SELECT account_id FROM https_edges WHERE id = $1', [
    edge.id,
  ]);
  const now = Math.floor(Date.now() / 1000);
  const sessionId = newId('as');
  kept.visitorSeen({
    id: sessionId,
    accountId: String(row?.[0]),
    edgeId: edge.id,
    routeId: '',
    host: 'app.example.com',
    provider: { name: 'oidc', url: 'https://id.example.com' },
    subject: sessionId,
    email: 'ada@example.com',
    name: 'Ada',
    groups: [],
    source: '192.0.2.1',
    userAgent: 'Mozilla/5.0',
    signedInAt: now,
    seenAt: now,
    expiresAt: now + 3600,
    endsAt: now + 3600,
  });
  await kept.flush();
  const { body } = await gatehouse.get(`/app/sessions/${sessionId}`, { token });
  return { sessionId, userId: body.application_user.id };
}

/** Connects an agent that does whatever it is told, and has one endpoint. It leaves when the Gatehouse stops. */
async function connectAgent({ gatehouse, token }: Account): Promise<OnlineAgent> {
  const { token: secret } = await gatehouse.create('/credentials', {}, { token });
  const { port = 0 } = gatehouse.app.agents ?? {};
  const ca = gatehouse.app.engine?.caCertificatePem ?? '';
  const { agent, answer } = await signIn(port, ca, String(secret), { command: () => ({}) });
  // The form of both answers is that of `src/agents/wire/`.
  const { AgentSessionID } = answer['Extra'] as { AgentSessionID: string };
  const bound = await agent.bind('');
  assert.equal(bound['Error'], undefined);
  return { sessionId: AgentSessionID, tunnelId: String(bound['Id']) };
}

/** Checks the headers that every response must have. */
function checkHeaders({ headers, status, text }: Answer): void {
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.match(headers.get('gatehouse-operation-id') ?? '', /^op_[0-9A-Za-z]{27}$/);
  const type = headers.get('content-type');
  if (type === 'text/event-stream; charset=utf-8') return;
  assert.equal(type, status === 204 ? null : 'application/json; charset=utf-8');
  assert.equal(text === '', status === 204);
}

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';

import { headersTooLarge } from '../../../../src/errors/shared.ts';
import { Random } from '../../../e2e/gateway/support/random.ts';
import { checkAnswer } from '../../../support/openapi-check.ts';
import { Account } from '../account.ts';
import type { Prepared } from '../account.ts';
import { finiteOperations } from '../operations.ts';
import type { ApiOperation } from '../operations.ts';
import { World } from '../world.ts';
import { idsIn, Pool } from './pool.ts';
import { randomRequest } from './requests.ts';
import type { FuzzRequest } from './requests.ts';

/** A caller, and the pools of its own account and of the other one. */
interface Caller {
  readonly account: Account;
  readonly token: string;
  readonly own: Pool;
  readonly foreign: Pool;
}

export interface EpisodeReport {
  /** Number of answers by status. */
  readonly statuses: Map<number, number>;
}

/** One of this many refusals is followed by a comparison of every stored row. */
const compareEvery = 60;
/** One of this many calls is prepared anew, so that there are always resources to work on. */
const prepareEvery = 8;

/**
 * Sends random calls, derived from openapi.json, to one server: as an admin, a member and a bot of one account, and as the
 * admin of another. Throws at the first answer that breaks a rule.
 */
export async function runEpisode(databaseUrl: string, seed: number, calls: number): Promise<EpisodeReport> {
  const settings = { httpsListen: '127.0.0.1:0', tcpListenHost: '127.0.0.88', drainSeconds: '0' };
  await using world = await World.start(databaseUrl, settings);
  // Neighbouring seeds begin with similar numbers.
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
  const episode = new Episode(world, random, await makeCallers(world));
  await episode.prepare();
  for (let call = 0; call < calls; call++) await episode.callOnce();
  await episode.finish();
  return episode;
}

async function makeCallers(world: World): Promise<readonly Caller[]> {
  const { own, foreign, gatehouse } = world;
  const member = await world.createUser('fuzz member', 'member');
  const { id: botId } = await gatehouse.create('/bot_users', { name: 'fuzz bot' });
  const { token } = await gatehouse.create('/api_keys', { owner_id: botId });
  const bot = await Account.of(gatehouse, String(token));
  const reserved = new Set<string>([botId]);
  for (const account of [own, foreign]) {
    const { text } = await gatehouse.get('/api_keys', { token: account.token });
    for (const id of idsIn(text)) reserved.add(id);
  }
  const [ownPool, foreignPool] = [new Pool(own, reserved), new Pool(foreign, reserved)];
  const inOwn = [own, member, bot].map((account) => ({ account, own: ownPool, foreign: foreignPool }));
  return [...inOwn, { account: foreign, own: foreignPool, foreign: ownPool }].map((each) => ({
    ...each,
    token: each.account.token,
  }));
}

class Episode implements EpisodeReport {
  readonly statuses = new Map<number, number>();
  readonly #world: World;
  readonly #random: Random;
  readonly #callers: readonly Caller[];
  /** Calls that would succeed, by the account that made them and the operation. */
  readonly #prepared = new Map<Pool, Map<ApiOperation, Prepared>>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(world: World, random: Random, callers: readonly Caller[]) {
    this.#world = world;
    this.#random = random;
    this.#callers = callers;
  }

  async prepare(): Promise<void> {
    for (const { own } of this.#callers) {
      if (this.#prepared.has(own)) continue;
      this.#prepared.set(own, new Map());
      for (const operation of finiteOperations) await this.#prepareOne(own, operation);
    }
  }

  async callOnce(): Promise<void> {
    const random = this.#random;
    const operation = random.pick(finiteOperations);
    const { own, foreign, token } = random.pick(this.#callers);
    if (random.below(prepareEvery) === 0) await this.#prepareOne(own, operation);
    const prepared = this.#prepared.get(own)?.get(operation);
    assert.ok(prepared);
    const sent = randomRequest(random, { operation, prepared, token, own, foreign });
    const compares = random.below(compareEvery) === 0;
    try {
      await this.#check(sent, own, foreign, compares);
    } catch (error) {
      const { body, ...head } = sent;
      const shown = JSON.stringify({ ...head, body: body?.toString('latin1') }).replaceAll(token, '<token>');
      throw new Error(`${operation.id}: ${shown.slice(0, 4000)}`, { cause: error });
    }
  }

  /** Checks that the server lives, that every caller is still let in, and that nothing was left out of force. */
  async finish(): Promise<void> {
    this.#agent.destroy();
    const { gatehouse } = this.#world;
    for (const { token } of this.#callers) assert.equal((await gatehouse.get('/api_keys', { token })).status, 200);
    const { status, body } = await gatehouse.get('/readyz');
    assert.deepEqual([status, body], [200, { status: 'ready', storage: 'ok', faulty_entries: 0 }]);
    const errors = gatehouse.logLines.filter((line) => line.includes('"level":50') && !line.includes('EADDR'));
    assert.deepEqual(errors.slice(0, 3), [], 'the server logged errors');
  }

  async #prepareOne(own: Pool, operation: ApiOperation): Promise<void> {
    const prepared = await own.account.prepare(operation);
    own.learn(JSON.stringify([prepared.ids, prepared.body]));
    this.#prepared.get(own)?.set(operation, prepared);
  }

  async #check(sent: FuzzRequest, own: Pool, foreign: Pool, compares: boolean): Promise<void> {
    const before = compares ? await this.#world.content() : undefined;
    const version = await this.#world.version();
    const { status, text } = await this.#send(sent);
    const [path = ''] = sent.target.split('?', 1);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    assert.ok(status >= 200 && status < 500, `answered ${status}: ${text}`);
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    // Headers that are too large are refused before there is an operation.
    if (status === headersTooLarge.status) checkAnswer('GET', '/none', { status: 400, body });
    else checkAnswer(sent.method, path, { status, body });
    for (const id of idsIn(path)) assert.ok(status >= 400 || !foreign.has(id), `${id} is of another account`);
    const moved = (await this.#world.version()) - version;
    assert.ok(moved === 0 || (status < 300 && sent.method !== 'GET'), `answered ${status}, and something was stored`);
    if (before !== undefined && status >= 400) await this.#world.mustBe(before);
    own.noteSent(`${sent.target} ${sent.body?.toString('latin1') ?? ''}`);
    for (const id of idsIn(text)) {
      // Processes, and stores of decisions, serve all accounts, and each account sees them.
      if (id.startsWith('proc_') || id.startsWith('dst_')) continue;
      assert.ok(!foreign.has(id) || own.wasSent(id), `it shows ${id} of another account`);
    }
    if (status < 300) own.learn(text);
  }

  async #send({ method, target, headers, body }: FuzzRequest): Promise<{ status: number; text: string }> {
    const { hostname, port } = new URL(this.#world.gatehouse.url);
    const outgoing = request({ agent: this.#agent, hostname, port, method, path: target, headers });
    outgoing.end(body);
    const [incoming] = await once(outgoing, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    return { status: incoming.statusCode, text: Buffer.concat(chunks).toString() };
  }
}

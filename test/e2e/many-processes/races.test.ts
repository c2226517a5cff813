import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../support/each-database.ts';
import { rounds } from '../../support/long-form.ts';
import type { Answer } from './support/call.ts';
import { Running } from './support/running.ts';
import { checkSoundness } from './support/soundness.ts';
import { pick } from './support/waiting.ts';

const roundCount = rounds(6, 200);
const contenders = 3;

onEachDatabase(`two processes race, ${roundCount} rounds each`, (newDatabase) => {
  test('a port, a CIDR, a name, a deletion and an update have one winner, and the losers get an error', async (t) => {
    const database = await newDatabase();
    const processes = await Promise.all([Running.start(database), Running.start(database)]);
    await using started = new AsyncDisposableStack();
    for (const each of processes) started.use(each);
    const race = new Race(processes);

    await t.test('one hostport', () => race.repeat((round) => race.forHostport(round)));
    await t.test('one CIDR of a policy', () => race.repeat((round) => race.forCidr(round)));
    await t.test('one name for a bot', () => race.repeat((round) => race.forName(round)));
    await t.test('one deletion', () => race.repeat(() => race.forDeletion()));
    await t.test('deletion of a policy against its first use', () => race.repeat(() => race.deletionAgainstUse()));
    await t.test('updates that name the same ETag', () => race.repeat(() => race.forEtag()));
    await t.test('one Idempotency-Key', () => race.repeat((round) => race.forIdempotencyKey(round)));
    await checkSoundness(database);
  });
});

class Race {
  readonly #processes: readonly Running[];

  constructor(processes: readonly Running[]) {
    this.#processes = processes;
  }

  async repeat(run: (round: number) => Promise<void>): Promise<void> {
    for (let round = 0; round < roundCount; round++) await run(round);
  }

  async forHostport(round: number): Promise<void> {
    const hostports = [`127.0.0.1:${30_000 + round}`];
    const edges = await this.#all((each) => each.call('POST', '/edges/tcp', { hostports }));
    const winner = oneWinner(edges, 201, 409);
    // The winner still has the port afterwards.
    const { body } = await this.#any.call('GET', `/edges/tcp/${winner?.body.id}`);
    assert.deepEqual(body.hostports, hostports);
  }

  async forCidr(round: number): Promise<void> {
    const { id } = await this.#any.create('/ip_policies');
    const rule = { ip_policy_id: id, cidr: `10.0.${round % 256}.0/24`, action: 'allow' };
    oneWinner(await this.#all((each) => each.call('POST', '/ip_policy_rules', rule)), 201, 409);
  }

  async forName(round: number): Promise<void> {
    oneWinner(await this.#all((each) => each.call('POST', '/bot_users', { name: `bot ${round}` })), 201, 409);
  }

  async forDeletion(): Promise<void> {
    const { id } = await this.#any.create('/ip_policies');
    oneWinner(await this.#all((each) => each.call('DELETE', `/ip_policies/${id}`)), 204, 404);
  }

  /** Checks that the policy either stays because it is in use, or is gone and nothing refers to it. */
  async deletionAgainstUse(): Promise<void> {
    const { id } = await this.#any.create('/ip_policies');
    const { id: edge } = await this.#any.create('/edges/tcp');
    const [deleting, using] = this.#shuffled;
    const module = { ip_policy_ids: [id] };
    const restriction = { type: 'endpoints', ...module };
    const [deletion, creation, replacement] = await Promise.all([
      deleting.call('DELETE', `/ip_policies/${id}`),
      using.call('POST', '/ip_restrictions', restriction),
      pick(this.#processes).call('PUT', `/edges/tcp/${edge}/ip_restriction`, module),
    ]);
    const answered = [deletion, creation, replacement].map(({ status, body }) => body?.error_code ?? status);
    if (deletion.status === 204) assert.deepEqual(answered, [204, 'ERR_GATEHOUSE_1801', 'ERR_GATEHOUSE_7007']);
    else assert.deepEqual(answered, ['ERR_GATEHOUSE_1420', 201, 200]);
  }

  async forEtag(): Promise<void> {
    const { id } = await this.#any.create('/ip_policies', { description: 'first' });
    const path = `/ip_policies/${id}`;
    const tag = (await this.#any.call('GET', path)).headers.get('etag') ?? '';
    const changes = await this.#all((each, at) =>
      each.call('PATCH', path, { description: `by ${at}` }, { headers: { 'if-match': tag } }),
    );
    const winner = oneWinner(changes, 200, 412);
    const { body } = await this.#winnerOf(changes).call('GET', path);
    assert.equal(body.description, winner?.body.description);
  }

  async forIdempotencyKey(round: number): Promise<void> {
    const headers = { 'idempotency-key': `race-${round}` };
    const answers = await this.#all((each) => each.call('POST', '/api_keys', { description: 'once' }, { headers }));
    for (const { status, text } of answers) assert.equal(status, 201, text);
    assert.equal(new Set(answers.map(({ body }) => body.id)).size, 1, 'one key was made');
    const tokens = answers.filter(({ body }) => body.token !== null);
    assert.equal(tokens.length, 1, 'its token was shown once');
  }

  /** Makes the same call through all processes, several through each, at the same time. */
  #all(call: (process: Running, at: number) => Promise<Answer>): Promise<readonly Answer[]> {
    const places = Array.from({ length: contenders * this.#processes.length }, (_, at) => at);
    return Promise.all(places.map((at) => call(this.#process(at), at)));
  }

  #winnerOf(answers: readonly Answer[]): Running {
    return this.#process(answers.findIndex(({ status }) => status < 300));
  }

  #process(at: number): Running {
    const process = this.#processes[at % this.#processes.length];
    assert.ok(process);
    return process;
  }

  get #any(): Running {
    return pick(this.#processes);
  }

  get #shuffled(): readonly [Running, Running] {
    const at = pick([0, 1]);
    return [this.#process(at), this.#process(at + 1)];
  }
}

function oneWinner(answers: readonly Answer[], won: number, lost: number): Answer | undefined {
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [won, ...Array.from({ length: answers.length - 1 }, () => lost)], 'not one winner');
  return answers.find(({ status }) => status === won);
}

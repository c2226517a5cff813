import assert from 'node:assert/strict';

import type { Answer, CallOptions } from './call.ts';
import { pick, randomBetween } from './waiting.ts';

/** Makes one call of the API; throws if there is no response. */
export type Caller = (method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Answer>;

/** Expected state of a resource. */
type State = { readonly description: string } | 'gone';

interface Known {
  readonly path: string;
  /** Id of the policy that it is deleted with. */
  readonly below?: string | undefined;
  state: State;
  /** Possible other state: the write for it got no response. */
  maybe?: State;
}

/** A creation without a response, to be repeated with its idempotency key. */
interface Unanswered {
  readonly path: string;
  readonly body: object;
  readonly idempotencyKey: string;
}

let names = 0;
const newName = () => `${process.pid}-${(names += 1)}`;

/**
 * Creates, changes and deletes resources of its own, one call after the other, and records the acknowledged writes. A
 * call without a response, or with 503, may have been carried out or not, but nothing in between.
 */
export class Writer {
  readonly #known = new Map<string, Known>();
  #unanswered: Unanswered | undefined;
  #port: number;
  acknowledged = 0;

  /** Uses ports from `firstPort` on, which no other writer may use. */
  constructor(firstPort: number) {
    this.#port = firstPort;
  }

  /** Writes until a write is not acknowledged. */
  async writeUntilFailure(call: Caller): Promise<void> {
    while (await this.writeOnce(call));
  }

  /** Makes one random write; returns false if it was not acknowledged. */
  async writeOnce(call: Caller): Promise<boolean> {
    const living = [...this.#known].filter(([, { state }]) => state !== 'gone');
    const choice = randomBetween(0, 9);
    if (living.length < 4 || choice < 4) return this.#create(call);
    const [id, known] = pick(living);
    // Deleting it would delete the resources below it.
    const isAlone = living.every(([, { below }]) => below !== id);
    return choice < 8 || !isAlone ? this.#update(call, id, known) : this.#delete(call, id, known);
  }

  /** Compares its records with the service, and resolves the state after calls without a response. */
  async verify(call: Caller): Promise<void> {
    // The database may still be carrying out a write whose connection is gone. It is over before the next one is answered.
    if ([...this.#known.values()].some(({ maybe }) => maybe !== undefined)) {
      const { status, text } = await call('POST', '/ip_policies', { description: 'behind all that came before' });
      assert.equal(status, 201, text);
    }
    for (const [id, known] of this.#known) {
      const { status, body } = await call('GET', `${known.path}/${id}`);
      const found: State = status === 404 ? 'gone' : { description: textOf(body) };
      const allowed = known.maybe === undefined ? [known.state] : [known.state, known.maybe];
      assert.ok(
        allowed.some((each) => isSame(each, found)),
        `${id} should be ${JSON.stringify(allowed)} and is ${JSON.stringify(found)}`,
      );
      known.state = found;
      delete known.maybe;
    }
    if (this.#unanswered !== undefined) await this.#createAgain(call, this.#unanswered);
  }

  async #create(call: Caller): Promise<boolean> {
    const [path, body] = this.#newResource();
    const unanswered = { path, body, idempotencyKey: newName() };
    this.#unanswered = unanswered;
    const answer = await attempt(call, 'POST', path, body, {
      headers: { 'idempotency-key': unanswered.idempotencyKey },
    });
    if (answer === undefined) return false;
    this.#unanswered = undefined;
    assert.equal(answer.status, 201, answer.text);
    this.#remember(answer, path, body);
    this.acknowledged += 1;
    return true;
  }

  async #update(call: Caller, id: string, known: Known): Promise<boolean> {
    const description = newName();
    const wanted: State = { description };
    known.maybe = wanted;
    const change = known.path === '/bot_users' ? { name: description } : { description };
    const answer = await attempt(call, 'PATCH', `${known.path}/${id}`, change);
    if (answer === undefined) return false;
    assert.equal(answer.status, 200, answer.text);
    this.#acknowledge(known, wanted);
    return true;
  }

  async #delete(call: Caller, id: string, known: Known): Promise<boolean> {
    known.maybe = 'gone';
    const answer = await attempt(call, 'DELETE', `${known.path}/${id}`);
    if (answer === undefined) return false;
    // The deletion is refused because a restriction or an edge refers to the resource.
    if (answer.status === 409) delete known.maybe;
    else assert.equal(answer.status, 204, answer.text);
    if (answer.status === 204) this.#acknowledge(known, 'gone');
    return true;
  }

  #acknowledge(known: Known, state: State): void {
    known.state = state;
    delete known.maybe;
    this.acknowledged += 1;
  }

  /** Repeats the creation with the same key and body, which must result in exactly one resource. */
  async #createAgain(call: Caller, { path, body, idempotencyKey }: Unanswered): Promise<void> {
    const again = await call('POST', path, body, { headers: { 'idempotency-key': idempotencyKey } });
    assert.equal(again.status, 201, again.text);
    const { body: read } = await call('GET', `${path}/${again.body.id}`);
    assert.equal(textOf(read), textOf(body));
    this.#remember(again, path, body);
    this.#unanswered = undefined;
  }

  #remember({ body: made }: Answer, path: string, sent: object): void {
    this.#known.set(made.id, { path, below: made.ip_policy?.id, state: { description: textOf(sent) } });
  }

  #newResource(): readonly [path: string, body: object] {
    const description = newName();
    const of = (path: string) =>
      [...this.#known].flatMap(([id, each]) => (each.path === path && isSure(each) ? [id] : []));
    const [policy] = of('/ip_policies').slice(-1);
    const [backend] = of('/backends/static').slice(-1);
    const choices: (readonly [string, object])[] = [
      ['/ip_policies', { description }],
      ['/bot_users', { name: description }],
      ['/api_keys', { description }],
      ['/backends/static', { description, address: '127.0.0.1:9' }],
    ];
    if (policy !== undefined && backend !== undefined) {
      const cidr = `10.${randomBetween(0, 255)}.${randomBetween(0, 255)}.${randomBetween(0, 255)}/32`;
      choices.push(
        ['/ip_restrictions', { description, type: 'endpoints', ip_policy_ids: [policy] }],
        ['/ip_policy_rules', { description, ip_policy_id: policy, action: 'allow', cidr }],
        [
          '/edges/tcp',
          {
            description,
            hostports: [`127.0.0.1:${(this.#port += 1)}`],
            backend: { backend_id: backend },
            ip_restriction: { ip_policy_ids: [policy] },
          },
        ],
      );
    }
    return pick(choices);
  }
}

async function attempt(...[call, ...request]: [Caller, ...Parameters<Caller>]): Promise<Answer | undefined> {
  try {
    const answer = await call(...request);
    return answer.status === 503 ? undefined : answer;
  } catch {
    return undefined;
  }
}

function textOf(body: { readonly description?: string; readonly name?: string }): string {
  return body.name ?? body.description ?? '';
}

function isSure({ state, maybe }: Known): boolean {
  return state !== 'gone' && maybe === undefined;
}

function isSame(a: State, b: State): boolean {
  return a === 'gone' || b === 'gone' ? a === b : a.description === b.description;
}

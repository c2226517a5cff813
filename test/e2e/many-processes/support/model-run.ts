import assert from 'node:assert/strict';

import type { CallOptions } from './call.ts';
import { expectStatus, LastSeen, view, withoutObservations } from './model-compare.ts';
import { moduleStep } from './model-edge-kinds.ts';
import { kinds, ownerFault } from './model-kinds.ts';
import type { Operation } from './model-operations.ts';
import type { Process } from './model-process.ts';
import { moduleNames } from './model.ts';
import type { Fault, Kind, Model, ModuleName, Thing } from './model.ts';
import { until } from './waiting.ts';

interface KeptAnswer {
  readonly key: string;
  readonly path: string;
  readonly body: { readonly owner_id?: string };
  readonly answer: object;
}

const wrongTag = '"AAAAAAAAAAAAAAAAAAAAAA"';

/** Carries out operations on the model and, through one process or the other, on Gatehouse, and compares. */
export class ModelRun {
  readonly #processes: readonly Process[];
  readonly #model: Model;
  readonly #tokens = new Map<string, string>();
  readonly #lastSeen = new LastSeen();
  readonly #keptAnswers: KeptAnswer[] = [];
  #lastWriter: Process | undefined;

  constructor(processes: readonly Process[], model: Model) {
    this.#processes = processes;
    this.#model = model;
  }

  async carryOut(operation: Operation): Promise<void> {
    const kind = kinds[operation.kind];
    assert.ok(kind);
    await this[operation.verb](operation, kind);
  }

  async create(operation: Operation, kind: Kind): Promise<void> {
    const { choice, via, at } = operation;
    const kept = this.#keptAnswers[at % Math.max(1, this.#keptAnswers.length)];
    if (kept !== undefined && operation.key === 'again') return this.#repeat(via, kept);
    if (kept !== undefined && operation.key === 'other') return this.#misuse(via, kept);
    const { body, fault, fields } = kind.create(this.#model, choice);
    const key = operation.key === 'none' ? undefined : `run-${this.#model.run}-${this.#keptAnswers.length}-${at}`;
    const answer = await this.#write(via, 'POST', kind.path, body, { 'idempotency-key': key });
    if (!expectStatus(answer, 201, fault)) return;
    const { id, created_at, token } = answer.body;
    const thing: Thing = { ...fields, id, created_at };
    this.#model.set(operation.kind, thing);
    this.#lastSeen.compare(kind, thing, answer, token);
    if (typeof token === 'string') this.#tokens.set(id, token);
    const replay = 'token' in answer.body ? { ...answer.body, token: null } : answer.body;
    if (key !== undefined) this.#keptAnswers.push({ key, path: kind.path, body, answer: replay });
  }

  async update(operation: Operation, kind: Kind): Promise<void> {
    const { thing, path, headers, fault } = await this.#chooseTarget(operation, kind);
    const step = thing && kind.update(this.#model, thing, operation.choice);
    const answer = await this.#write(operation.via, 'PATCH', path, step?.body ?? {}, headers);
    if (!expectStatus(answer, 200, fault ?? step?.fault) || thing === undefined) return;
    const { id, created_at } = thing;
    const updated: Thing = { ...step?.fields, id, created_at };
    this.#model.set(operation.kind, updated);
    this.#lastSeen.compare(kind, updated, answer);
  }

  async delete(operation: Operation, kind: Kind): Promise<void> {
    const { thing, path, headers, fault } = await this.#chooseTarget(operation, kind);
    const answer = await this.#write(operation.via, 'DELETE', path, undefined, headers);
    if (!expectStatus(answer, 204, fault ?? (thing && kind.kept?.(this.#model, thing))) || thing === undefined) return;
    for (const [below, id] of kind.below?.(this.#model, thing) ?? []) this.#model.delete(below, id);
    this.#model.delete(operation.kind, thing.id);
  }

  async read({ via, at, kind: name }: Operation, kind: Kind): Promise<void> {
    await this.#see(via, kind, name, this.#model.id(name, at));
  }

  async list({ via, kind: name }: Operation, kind: Kind): Promise<void> {
    const { body } = await this.#process(via).call('GET', kind.path);
    // The key that the run itself uses is not in the model.
    const listed = body[kind.listKey].filter(
      ({ id }: Thing) => this.#model.find(name, id) !== undefined || name !== 'key',
    );
    const wanted = this.#model.all(name).toSorted((a, b) => (a.id < b.id ? 1 : -1));
    assert.deepEqual(
      listed.map(withoutObservations),
      wanted.map((thing) => view(kind, thing)),
      `list of ${name}`,
    );
  }

  async putModule(operation: Operation, kind: Kind): Promise<void> {
    const [thing, module, path] = this.#module(operation, kind);
    const step = moduleStep(this.#model, module, operation.choice);
    const headers = await this.#match(operation, path);
    const answer = await this.#write(operation.via, 'PUT', path, step.body, headers);
    // Checks come in this order: the form of the body, the edge, the resources that the body names.
    const form = step.fault === 7025 ? step.fault : undefined;
    if (!expectStatus(answer, 200, form ?? this.#moduleFault(operation, thing, module) ?? step.fault)) return;
    assert.deepEqual(answer.body, step.fields);
    this.#setModule(thing, module, step.fields);
  }

  async readModule(operation: Operation, kind: Kind): Promise<void> {
    const [thing, module, path] = this.#module(operation, kind);
    await this.#catchUp(operation.via);
    const answer = await this.#process(operation.via).call('GET', path);
    const fault = thing === undefined ? 7000 : thing[module] === null ? 20008 : undefined;
    if (expectStatus(answer, 200, fault)) assert.deepEqual(answer.body, thing?.[module]);
  }

  async deleteModule(operation: Operation, kind: Kind): Promise<void> {
    const [thing, module, path] = this.#module(operation, kind);
    const headers = await this.#match(operation, path);
    const answer = await this.#write(operation.via, 'DELETE', path, undefined, headers);
    if (expectStatus(answer, 204, this.#moduleFault(operation, thing, module))) this.#setModule(thing, module, null);
  }

  async useKey({ via, at }: Operation): Promise<void> {
    const id = this.#model.id('key', at);
    const token = this.#tokens.get(id);
    if (token === undefined) return;
    await this.#catchUp(via);
    const { status } = await this.#process(via).call('GET', '/ip_policies', undefined, { token });
    const key = this.#model.find('key', id);
    const owner = key && this.#model.find('bot', String(key['owner_id']));
    assert.equal(status, key === undefined ? 401 : owner?.['active'] === false ? 403 : 200, `use of ${id}`);
  }

  /** Compares every resource, through every process. */
  async compareAll(): Promise<void> {
    for (const [via] of this.#processes.entries()) {
      for (const [name, kind] of Object.entries(kinds)) {
        await this.list({ via, kind: name, ...nothing }, kind);
        for (const { id } of this.#model.all(name)) await this.#see(via, kind, name, id);
      }
    }
  }

  async deleteAll(): Promise<void> {
    for (const name of ['restriction', 'edge', 'key', 'bot', 'policy', 'backend']) {
      for (const { id } of this.#model.all(name)) await this.#process(0).call('DELETE', `${kinds[name]?.path}/${id}`);
    }
  }

  async #see(via: number, kind: Kind, name: string, id: string): Promise<void> {
    await this.#catchUp(via);
    const answer = await this.#process(via).call('GET', `${kind.path}/${id}`);
    const thing = this.#model.find(name, id);
    if (expectStatus(answer, 200, thing === undefined ? kind.missing : undefined) && thing !== undefined) {
      this.#lastSeen.compare(kind, thing, answer);
    }
  }

  /** Chooses the target of an update or deletion, and the error expected for it. */
  async #chooseTarget(operation: Operation, kind: Kind) {
    const id = this.#model.id(operation.kind, operation.at);
    const path = `${kind.path}/${id}`;
    const thing = this.#model.find(operation.kind, id);
    const headers = await this.#match(operation, path);
    const fault = thing === undefined ? kind.missing : operation.match === 'wrong' ? 20020 : undefined;
    return { thing, path, headers, fault };
  }

  #module({ at, choice }: Operation, kind: Kind): readonly [Thing | undefined, ModuleName, string] {
    const id = this.#model.id('edge', at);
    const module = moduleNames[choice.few.length % moduleNames.length] ?? 'backend';
    return [this.#model.find('edge', id), module, `${kind.path}/${id}/${module}`];
  }

  #moduleFault({ match }: Operation, thing: Thing | undefined, module: ModuleName): Fault | undefined {
    if (thing === undefined) return 7000;
    if (match === 'none') return undefined;
    return match === 'wrong' || thing[module] === null ? 20020 : undefined;
  }

  #setModule(thing: Thing | undefined, module: ModuleName, settings: object | null): void {
    assert.ok(thing);
    this.#model.set('edge', { ...thing, [module]: settings });
    this.#lastSeen.forget(thing.id);
  }

  async #match({ match, via }: Operation, path: string): Promise<Record<string, string | undefined>> {
    if (match === 'none') return {};
    if (match !== 'current') return { 'if-match': match === 'any' ? '*' : wrongTag };
    await this.#catchUp(via);
    const { headers } = await this.#process(via).call('GET', path);
    return { 'if-match': headers.get('etag') ?? wrongTag };
  }

  async #repeat(via: number, { key, path, body, answer }: KeptAnswer): Promise<void> {
    const again = await this.#process(via).call('POST', path, body, { headers: { 'idempotency-key': key } });
    if (!expectStatus(again, 201, this.#repeatFault(body))) return;
    assert.deepEqual(again.body, answer, 'the repeated answer');
    assert.match(again.headers.get('gatehouse-idempotent-replay') ?? '', /^true/);
  }

  async #misuse(via: number, { key, path, body }: KeptAnswer): Promise<void> {
    const other = path === '/bot_users' ? { name: 'another body' } : { ...body, description: 'another body' };
    const answer = await this.#process(via).call('POST', path, other, { headers: { 'idempotency-key': key } });
    expectStatus(answer, 201, this.#repeatFault(body) ?? 20042);
  }

  /** The owner is checked before an answer is repeated. */
  #repeatFault({ owner_id }: KeptAnswer['body']): Fault | undefined {
    return owner_id === undefined ? undefined : ownerFault(this.#model, owner_id);
  }

  async #write(via: number, method: string, path: string, body: unknown, headers: CallOptions['headers']) {
    const process = this.#process(via);
    const answer = await process.call(method, path, body, { headers: headers ?? {} });
    if (answer.status < 300) this.#lastWriter = process;
    return answer;
  }

  /** Waits until the process has applied the last write, whichever process made it. */
  async #catchUp(via: number): Promise<void> {
    const writer = this.#lastWriter;
    const reader = this.#process(via);
    if (writer === undefined || writer === reader) return;
    const version = await writer.version();
    await until('the other process follows', async () => (await reader.version()) >= version, { everyMs: 2 });
    this.#lastWriter = undefined;
  }

  #process(via: number): Process {
    const process = this.#processes[via % this.#processes.length];
    assert.ok(process);
    return process;
  }
}

const nothing = {
  verb: 'list',
  at: 0,
  match: 'none',
  key: 'none',
  choice: { text: undefined, flag: undefined, one: 0, few: [] },
} as const;

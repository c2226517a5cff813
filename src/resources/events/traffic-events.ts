import { createHash } from 'node:crypto';

import type { DecisionRow } from '../../decisions/columns.ts';
import type { AfterQuestion, DecisionsAfter } from '../../decisions/messages.ts';
import { readAnswer, readReply, writeQuestion } from '../../decisions/over-links.ts';
import type { OutgoingEvent, Place } from '../../events/event.ts';
import { oneLine } from '../../events/one-line.ts';
import { SourceUnavailable } from '../../events/storage.ts';
import type { Delivery, NextEvents } from '../../events/storage.ts';
import { idOfHash, toTimestamp } from '../../lib/ids.ts';
import { presentDecision } from '../decision-view.ts';
import { keptDecisions } from '../decisions/service.ts';
import { otherProcesses } from '../other-processes.ts';
import { processes } from '../processes/service.ts';
import type { Services } from '../services.ts';
import { shortEvent } from './short-event.ts';
import { followedBy, lastPosition, typesOfDecision } from './traffic-types.ts';

/** Decisions of one answer. */
const rowsAtOnce = 500;
/** Answers that are kept, of all accounts: several subscriptions read the same decisions. */
const keptPages = 16;
/** Gateways are looked for so often. */
const lookMs = 2_000;
const longestTitle = 80;

interface KeptPage extends DecisionsAfter {
  readonly after: number;
}

/** Events of requests, connections and sign-ins of visitors: read on from a place among the decisions that each gateway keeps. */
export class TrafficEvents {
  readonly #services: Services;
  readonly #pages = new Map<string, KeptPage>();
  #gateways: ReadonlyMap<string, string | undefined> = new Map();
  #lookedMs = -Infinity;

  constructor(services: Services) {
    this.#services = services;
  }

  /** Stores of decisions, each with the id of its process, which is undefined for this one. */
  async gateways(): Promise<ReadonlyMap<string, string | undefined>> {
    if (performance.now() - this.#lookedMs < lookMs) return this.#gateways;
    const own = this.#services.find(keptDecisions)?.gateway;
    const others = (await this.#services.get(processes).list()).filter(({ isSelf }) => !isSelf);
    const found = others.flatMap(({ id, status }) =>
      status?.decisions === undefined ? [] : [[status.decisions, id] as const],
    );
    this.#gateways = new Map([...found, ...(own === undefined ? [] : [[own, undefined] as const])]);
    this.#lookedMs = performance.now();
    return this.#gateways;
  }

  async next(delivery: Delivery, from: Place, most: number): Promise<NextEvents> {
    const { accountId, source, types } = delivery;
    const question = {
      accountId,
      // Another event of the same decision may be next.
      after: from.position < lastPosition ? from.version - 1 : from.version,
      limit: rowsAtOnce,
      followed: followedBy(types.keys()),
    };
    const page = await this.#page(source, question).catch((error: unknown) => {
      if (error instanceof SourceUnavailable) return undefined;
      throw error;
    });
    if (page === undefined) return { found: [], seen: from, isEnd: true, isCut: false };
    const { rows, seen, hasMore, isCut } = page;
    const found: Place[] = [];
    for (const row of rows)
      for (const [position, type] of typesOfDecision(row).entries()) {
        const version = Number(row.number);
        const isBehind = version > from.version || position > from.position;
        if (!isBehind || version <= (types.get(type) ?? Infinity)) continue;
        if (found.length === most) return { found, seen: found.at(-1) ?? from, isEnd: false, isCut };
        found.push({ version, position });
      }
    const end = { version: Math.max(seen, from.version), position: lastPosition };
    return { found, seen: end, isEnd: !hasMore, isCut };
  }

  async read({ accountId, source, types }: Delivery, place: Place): Promise<OutgoingEvent | undefined> {
    const question = { accountId, after: place.version - 1, limit: 1, followed: followedBy(types.keys()) };
    const { rows } = this.#kept(source, question) ?? (await this.#ask(source, question));
    const row = rows.find(({ number }) => Number(number) === place.version);
    return row && toEvent(source, accountId, row, place.position);
  }

  async #page(source: string, question: AfterQuestion): Promise<DecisionsAfter> {
    const known = this.#kept(source, question);
    if (known !== undefined) return known;
    const answer = await this.#ask(source, question);
    const key = keyOf(source, question);
    this.#pages.delete(key);
    if (answer.rows.length > 0) this.#pages.set(key, { ...answer, after: question.after });
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= keptPages) break;
      this.#pages.delete(oldest);
    }
    return answer;
  }

  /** What is kept of the answer to this question, or to an earlier one. */
  #kept(source: string, question: AfterQuestion): DecisionsAfter | undefined {
    const page = this.#pages.get(keyOf(source, question));
    if (page === undefined || question.after < page.after || question.after >= page.seen) return undefined;
    return { ...page, rows: page.rows.filter(({ number }) => Number(number) > question.after), isCut: false };
  }

  async #ask(source: string, question: AfterQuestion): Promise<DecisionsAfter> {
    const own = this.#services.find(keptDecisions);
    const fail = (cause?: unknown) =>
      new SourceUnavailable('the gateway that keeps the decision does not answer', { cause });
    if (own?.gateway === source)
      return own.ask('after', question).catch((error: unknown) => {
        throw fail(error);
      });
    const processId = (await this.gateways()).get(source);
    const ask = this.#services.find(otherProcesses);
    if (processId === undefined || ask === undefined) throw fail();
    const heard = await ask(processId, writeQuestion('after', question));
    if (heard.state !== 'heard') throw fail();
    const reply = readReply(heard.reply);
    if (reply.state !== 'answered' || reply.gateway !== source) throw fail();
    return readAnswer('after', reply.answer);
  }
}

function keyOf(source: string, { accountId, followed }: AfterQuestion): string {
  return `${source} ${accountId} ${JSON.stringify(followed)}`;
}

function toEvent(source: string, accountId: string, row: DecisionRow, position: number): OutgoingEvent | undefined {
  const type = typesOfDecision(row)[position];
  if (type === undefined) return undefined;
  const hash = createHash('sha256').update(`${source} ${row.number} ${position}`).digest();
  const [atMs, at] = [Number(row.at_ms), toTimestamp(Number(row.at_ms))];
  const id = idOfHash('ev', atMs, hash);
  const head = { event_id: id, event_type: type, event_timestamp: at, account_id: accountId };
  const decision = presentDecision({ row, gateway: source });
  const object = row.kind === 'tcp' ? connectionOf(row) : requestOf(row);
  const body = JSON.stringify({ ...head, object: { ...object, decision } });
  const shortBody = shortEvent(body, { ...head, object: { decision: { id: decision.id } }, truncated: true });
  return { id, type, at, accountId, body, shortBody, title: titleOf(type, row) };
}

/** Names of ngrok, as far as they are known of a decision. */
function requestOf({ source, host, method, path, status, bytes_in, bytes_out, edge_id }: DecisionRow): object {
  return {
    conn: { client_ip: source, server_name: host },
    edge: { id: edge_id },
    http: {
      request: { method, url: { host, path }, body_length: Number(bytes_in) },
      response: { status_code: status, body_length: Number(bytes_out) },
    },
  };
}

function connectionOf({ source, host, port, bytes_in, bytes_out, edge_id }: DecisionRow): object {
  const server = { ...(host !== '' && { server_name: host }), ...(port !== 0 && { server_port: port }) };
  return {
    conn: { client_ip: source, ...server, bytes_in: Number(bytes_in), bytes_out: Number(bytes_out) },
    edge: { id: edge_id },
  };
}

function titleOf(type: string, { source, host, port, method, path, status, person, verdict }: DecisionRow): string {
  const text =
    type === 'tcp_connection_closed.v0'
      ? `Connection of ${source} to ${host === '' ? `port ${port}` : host}: ${verdict}`
      : type === 'http_request_complete.v0'
        ? `${method} ${host}${path}: ${status}`
        : `Visitor ${person} ${type === 'visitor_signed_in.v0' ? 'has signed in' : 'was refused'} at ${host}`;
  return oneLine(text).slice(0, longestTitle).toWellFormed();
}

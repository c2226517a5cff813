import { quote, UserError } from '../../../errors/user-error.ts';
import type { Run } from '../../../lib/cel/run.ts';
import { bool } from '../../../lib/cel/types.ts';
import { nearestName } from '../../../lib/nearest-name.ts';
import type { Steps } from '../../../lib/steps.ts';
import { knowsPlaces } from '../../places.ts';
import { mayAskServer } from '../../request-hosts.ts';
import { mostOwnRequests } from '../../step.ts';
import type { Action, BuiltAction } from '../actions/action.ts';
import { actions } from '../actions/index.ts';
import { whyNotOffered } from '../actions/not-offered.ts';
import * as errors from '../errors.ts';
import { phases } from '../phases.ts';
import type { Phase } from '../phases.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { keyOf } from '../run/rule-key.ts';
import type { RuleKey } from '../run/rule-key.ts';
import { environmentOf } from '../variables/environment.ts';
import type { BuildContext } from './build-context.ts';
import { ConfigReader, expressionSteps, fieldsOf, wrongType } from './config-reader.ts';
import { withPlace } from './place.ts';
import { addReads, bytesOf, newReads, readsPathVar } from './reads.ts';
import type { Reads } from './reads.ts';
import { documentSteps } from './read-text.ts';

const mostRules = 1000;
const mostActions = 100;
const mostExpressions = 100;
const longestName = 1024;
const mostSecrets = 100;

/** A rule, ready to be run. */
export interface Rule {
  readonly path: string;
  /** Undefined: it has none. */
  readonly name: string | undefined;
  readonly conditions: readonly Condition[];
  readonly actions: readonly PlacedAction[];
  /** True: it decides about access. */
  readonly guards: boolean;
  /** True: its conditions go by the path. */
  readonly readsPath: boolean;
  /** True: they go by a variable that is made of the path. */
  readonly readsPathVar: boolean;
}

export interface Condition {
  readonly source: string;
  readonly run: Run<PolicyVisit>;
  /** False: only a fault of the budget can come of it. */
  readonly mayFail: boolean;
  readonly key: RuleKey;
}

export interface PlacedAction {
  readonly path: string;
  readonly type: string;
  /** True: it decides about access. */
  readonly guards: boolean;
  readonly built: BuiltAction;
}

/** A policy, checked and ready to be run. */
export interface Policy {
  /** Hash of its text: policies of the same text are the same. */
  readonly key: string;
  readonly rules: Readonly<Record<Phase, readonly Rule[]>>;
  /** Phases that the document names, also without rules. */
  readonly named: readonly Phase[];
  readonly reads: Reads;
  /** Estimate of the memory that it takes. */
  readonly kib: number;
  /** Why the operator's settings do not allow it: there are no places, or it asks a server that was not named. */
  readonly refusals: { readonly places: UserError | undefined; readonly servers: UserError | undefined };
}

/** Reads the text of a policy. Throws `UserError`. */
export function* policySteps(text: string): Steps<Omit<Policy, 'key'>> {
  const document = yield* documentSteps(text);
  try {
    const policy = yield* checkPolicy(document, text.length);
    const places = knowsPlaces() ? undefined : policy.reads.places.refusal;
    const unnamed = policy.reads.servers.find(({ url }) => !mayAskServer(url));
    const refusals = {
      places: places && (yield* withPlace(places, text)),
      servers: unnamed && (yield* withPlace(notNamed(unnamed.path), text)),
    };
    return { ...policy, refusals };
  } catch (error) {
    throw error instanceof UserError ? yield* withPlace(error, text) : error;
  }
}

/** Checks a document that has been parsed, whose text was so long. Throws `UserError`. */
function* checkPolicy(document: unknown, length: number): Steps<Omit<Policy, 'key' | 'refusals'>> {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new UserError(errors.unreadablePolicy, {
      reason: `it must be a map of phases, such as on_http_request, to lists of rules, and is ${quote(document)}`,
    });
  const given = fieldsOf(document, 'its top level');
  for (const name of given.keys()) if (!isPhase(name)) throw unknownPhase(name);
  const reads = newReads();
  const named = phases.filter((phase) => given.has(phase));
  function* rulesOf(phase: Phase): Steps<readonly Rule[]> {
    const list = given.get(phase) ?? [];
    if (!Array.isArray(list)) throw wrongType(phase, 'a list of rules', list);
    if (list.length > mostRules)
      throw new UserError(errors.tooManyRules, { path: phase, count: list.length, limit: mostRules });
    const environment = environmentOf(phase);
    return yield* readRules(list, { phase, environment, reads, ofAction: { characters: 0 } });
  }
  const rules = {
    on_tcp_connect: yield* rulesOf('on_tcp_connect'),
    on_http_request: yield* rulesOf('on_http_request'),
    on_http_response: yield* rulesOf('on_http_response'),
  };
  checkLogins(rules.on_http_request);
  checkRequests([...rules.on_http_request, ...rules.on_http_response]);
  checkSecrets(reads);
  checkTermination(rules.on_tcp_connect);
  return { rules, named, reads, kib: Math.ceil((bytesOf.policy + length + reads.memory.bytes) / 1024) };
}

function notNamed(path: string): UserError {
  return new UserError(errors.invalidUrl, {
    path,
    reason:
      'only internal endpoints of the account are asked, whose names end with .internal, and servers that the operator has named (GATEHOUSE_POLICY_REQUEST_HOSTS); make an endpoint that leads to another one',
  });
}

/** How TLS ends is known before a connection comes, so that no expression can choose it. */
function checkTermination(rules: readonly Rule[]): void {
  const all = rules.flatMap(({ conditions, actions: list }) =>
    list.flatMap(({ type, path }) => (type === 'terminate-tls' ? [{ path, isChosen: conditions.length > 0 }] : [])),
  );
  const [, second] = all;
  const chosen = all.find(({ isChosen }) => isChosen);
  if (chosen !== undefined)
    throw new UserError(errors.invalidValue, {
      path: chosen.path,
      reason: 'TLS ends before any expression is evaluated; put it into a rule without expressions',
    });
  if (second !== undefined)
    throw new UserError(errors.invalidValue, { path: second.path, reason: 'TLS ends once; keep one terminate-tls' });
}

/** Each secret is looked up when the policy is written. */
function checkSecrets({ secrets }: Reads): void {
  const count = new Set(secrets.map(({ vault, name }) => JSON.stringify([vault, name]))).size;
  if (count > mostSecrets)
    throw new UserError(errors.tooManyElements, { path: 'secrets.get()', count, limit: mostSecrets });
}

/** What every visit would ask must be possible. */
function checkRequests(rules: readonly Rule[]): void {
  const asking = rules
    .filter(({ conditions }) => conditions.length === 0)
    .flatMap(({ actions: list }) => list.filter(({ type }) => type === 'http-request'));
  const [count, first] = [asking.length, asking[mostOwnRequests]];
  if (first === undefined) return;
  const reason = `every visit would come to ${count} actions http-request, of which ${mostOwnRequests} are possible; take some away, or put them into rules with expressions`;
  throw new UserError(errors.invalidValue, { path: first.path, reason });
}

/** Several logins are told apart by their names. */
function checkLogins(rules: readonly Rule[]): void {
  const logins = rules.flatMap(({ actions: list }) => list.filter(({ built }) => built.authId !== undefined));
  const names = new Set<string | undefined>();
  for (const { path, built } of logins) {
    if (names.size > 0 && (names.has('') || built.authId === '' || names.has(built.authId)))
      throw new UserError(errors.severalLogins, { path });
    names.add(built.authId);
  }
}

function isPhase(name: string): name is Phase {
  return phases.some((phase) => phase === name);
}

function unknownPhase(name: string): UserError {
  const former: Readonly<Record<string, string>> = {
    inbound: 'it is called on_http_request now, or on_tcp_connect for TCP and TLS',
    outbound: 'it is called on_http_response now',
    enabled: 'enabled stands beside the policy, not in it',
    on_event_stream_message: 'this phase is not offered here',
  };
  const nearest = nearestName(name, phases);
  const meant = nearest === undefined ? `the phases are ${phases.join(', ')}` : `did you mean ${nearest}?`;
  const reason = Object.hasOwn(former, name) ? former[name] : meant;
  return new UserError(errors.unreadablePolicy, { reason: `it has no phase ${quote(name)}; ${reason}` });
}

function* readRules(list: readonly unknown[], context: BuildContext): Steps<readonly Rule[]> {
  const rules: Rule[] = [];
  let end: string | undefined;
  for (const [at, given] of list.entries()) {
    const path = `${context.phase}[${at}]`;
    if (end !== undefined) throw new UserError(errors.unreachableAction, { path, before: end });
    const rule = yield* readRule(given, path, context);
    yield;
    rules.push(rule);
    if (rule.conditions.length === 0 && rule.actions.at(-1)?.built.ends === true) end = rule.actions.at(-1)?.path;
  }
  return rules;
}

function* readRule(given: unknown, path: string, context: BuildContext): Steps<Rule> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrongType(path, 'a rule', given);
  const reader = new ConfigReader(given, path, context);
  const name = reader.raw('name');
  if (name !== undefined && typeof name !== 'number' && (typeof name !== 'string' || name.length > longestName))
    throw wrongType(`${path}.name`, `a text of at most ${longestName} characters`, name);
  const reads = newReads(context.reads);
  context.reads.memory.bytes += bytesOf.rule;
  const conditions = yield* readConditions(reader.raw('expressions'), `${path}.expressions`, { ...context, reads });
  addReads(context.reads, reads);
  const list = reader.raw('actions');
  if (list !== undefined && !Array.isArray(list)) throw wrongType(`${path}.actions`, 'a list of actions', list);
  reader.finish();
  if (list === undefined || list.length === 0) throw new UserError(errors.noActions, { path });
  checkCount('actions', list.length, mostActions, path);
  const placed: PlacedAction[] = [];
  for (const [at, each] of list.entries()) {
    const place = `${path}.actions[${at}]`;
    const before = placed.at(-1);
    if (before?.built.ends === true)
      throw new UserError(errors.unreachableAction, { path: place, before: before.path });
    placed.push(readAction(each, place, context));
    yield;
  }
  const shown = name === undefined ? undefined : String(name);
  return {
    path,
    name: shown,
    conditions,
    actions: placed,
    guards: placed.some(({ guards }) => guards),
    readsPath: reads.path,
    readsPathVar: readsPathVar(reads),
  };
}

function* readConditions(given: unknown, path: string, context: BuildContext): Steps<readonly Condition[]> {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw wrongType(path, 'a list of expressions', given);
  checkCount('expressions', given.length, mostExpressions, path);
  const conditions: Condition[] = [];
  for (const [at, source] of given.entries()) {
    const place = `${path}[${at}]`;
    if (typeof source !== 'string') throw wrongType(place, 'an expression, which is a text', source);
    const { run, mayFail, node } = yield* expressionSteps(source, place, context, bool);
    conditions.push({ source, run, mayFail, key: keyOf(node) });
    yield;
  }
  return conditions;
}

function checkCount(what: string, count: number, limit: number, path: string): void {
  if (count > limit) throw new UserError(errors.ruleTooLarge, { what, count, limit, path });
}

const actionByType: ReadonlyMap<string, Action> = new Map(actions.map((action) => [action.type, action]));

function readAction(given: unknown, path: string, context: BuildContext): PlacedAction {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrongType(path, 'an action', given);
  const reader = new ConfigReader(given, path, context);
  const type = reader.required('type', reader.text('type'));
  const own = { ...context, ofAction: { characters: 0 } };
  const config = new ConfigReader(reader.raw('config'), `${path}.config`, own);
  reader.finish();
  const action = actionByType.get(type);
  if (action === undefined) throw unknownAction(type, path);
  if (!action.phases.includes(context.phase))
    throw new UserError(errors.actionNotInPhase, { type, path, phases: action.phases.join(' or ') });
  context.reads.memory.bytes += bytesOf.action;
  const built = action.build(config);
  config.finish();
  return { path, type, guards: built.guards ?? action.guards, built };
}

function unknownAction(type: string, path: string): UserError {
  const types = [...actionByType.keys()];
  const nearest = nearestName(type, types);
  const meant = nearest === undefined ? `the actions are ${types.join(', ')}` : `did you mean ${nearest}?`;
  return new UserError(errors.unknownAction, { type: quote(type), path, reason: whyNotOffered.get(type) ?? meant });
}

/** IP policies that the rules of a policy name. */
export function ipPolicyIdsIn({ rules }: Policy): readonly string[] {
  const ids = Object.values(rules).flatMap((list) =>
    list.flatMap(({ actions: placed }) => placed.flatMap(({ built }) => built.facts?.ipPolicyIds ?? [])),
  );
  return [...new Set(ids)];
}

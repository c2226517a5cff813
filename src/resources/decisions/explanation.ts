import { isDeepStrictEqual } from 'node:util';

import { adminOnly } from '../../api/errors.ts';
import type { Call } from '../../api/call.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import type { DecisionRow } from '../../decisions/columns.ts';
import { gatewaySuffix } from '../../decisions/gateway-suffix.ts';
import type { DecisionFilter } from '../../decisions/messages.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { Pace } from '../../lib/pace.ts';
import { referencedIds } from '../../modules/index.ts';
import type { ModuleSettings } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { Past } from '../configuration-kind.ts';
import * as momentErrors from '../configuration/errors.ts';
import { earlierMoments } from '../configuration/service.ts';
import { rulesNotKept } from '../ip-policy-rules/errors.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import type { ResourceContext } from '../resource.ts';
import { openPlace, runVisit, settingsMet, whoMayBe } from '../visit-run.ts';
import type { KeptVisit, Met, VisitRun } from '../visit-run.ts';
import { judgeBy } from '../visit-reasons.ts';
import { wordsOf } from '../visit-words.ts';
import type { RulesByPolicy } from '../visit-reasons.ts';
import { visitedEntries } from '../visited-entries.ts';
import { askGateways } from './ask-gateways.ts';
import type { AskedGateway } from './ask-gateways.ts';
import * as errors from './errors.ts';
import { DecisionExplanation } from './explanation-schema.ts';
import { reasonOf, whatWasDecided } from './explanation-words.ts';
import { presentDecision } from '../decision-view.ts';

/** Pages that are looked through for the id of a request. */
const mostPages = 20;
/** Texts that are as long may have been cut. */
const longest = { path: 512, person: 254 };
const notForAll =
  'Only admins may read the configuration of an earlier moment. Ask an admin of this account, or use one of their keys.';

/** A visit, tried on the configuration of a moment. */
interface Tried {
  readonly run: VisitRun;
  readonly rules: RulesByPolicy;
  readonly settings: ModuleSettings | undefined;
}

export function explanationOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/decisions/{id}/explanation',
    operationId: 'DecisionsExplain',
    summary: 'Explain a decision about a visitor',
    description:
      'Runs what is kept of a request or connection through the configuration of that moment, for admins, and through that of now: what it met, what decided, and what depends on something that is never kept, such as a header, a password, a cookie or a body. ' +
      'The id is that of a decision, or of its request or connection. Nothing is changed or counted.',
    tag: 'Traffic',
    status: 200,
    response: DecisionExplanation,
    errors: [adminOnly, momentErrors.tooManyMoments, ...Object.values(errors)],
    handle: (call) => explainDecision(context, call),
  });
}

async function explainDecision(context: ResourceContext, call: Call) {
  const { row, gateway } = await findRow(context, call);
  const then = await tryThen(context, call, row);
  const now = await context.store.readSnapshot((queries) => tryVisit(context, queries, call, row));
  const decision = presentDecision({ row, gateway });
  const isUnchanged = typeof then !== 'string' && isSame(then, now);
  return {
    decision,
    gateway,
    at_the_time: presentThen(then, row),
    now: {
      configuration_version: null,
      is_known: true,
      verdict: now.run.verdict,
      reason: wordsOf(now.run),
      checks: presentChecks(now, row, undefined),
    },
    is_unchanged: isUnchanged,
    explanation: `${whatWasDecided(decision, typeof then === 'string' ? undefined : then.run)} ${
      isUnchanged ? 'Nothing that it met has changed since.' : `Now ${wordsOf(now.run)}.`
    }`,
  };
}

interface Found {
  readonly row: DecisionRow;
  readonly gateway: string;
}

async function findRow(context: ResourceContext, call: Call): Promise<Found> {
  const { caller, params, isAbandoned } = call;
  const { id = '' } = params;
  const { accountId } = caller;
  const ask = (filter: Omit<DecisionFilter, 'accountId' | 'limit'>) =>
    askGateways(context, 'list', { accountId, limit: 1, ...filter }, isAbandoned);
  const [, digits, suffix] = /^dec_(\d{17})([0-9a-f]{8})$/.exec(id) ?? [];
  let asked: readonly AskedGateway<'list'>[] = [];
  if (digits !== undefined) {
    const number = Number(digits);
    asked = await ask({ before: number + 1 });
    for (const { gateway = '', answer } of asked)
      for (const row of answer?.rows ?? [])
        if (Number(row.number) === number && gatewaySuffix(gateway) === suffix) return { row, gateway };
  } else if (!hasPrefix(id, 'dec')) {
    let before: number | undefined;
    for (let page = 0; page < mostPages; page++) {
      asked = await ask({ before, requestId: id });
      for (const { gateway = '', answer } of asked) for (const row of answer?.rows ?? []) return { row, gateway };
      const cuts = asked.flatMap(({ answer }) => answer?.cutAt ?? []);
      if (cuts.length === 0) break;
      before = Math.max(...cuts);
    }
  }
  if (asked.length === 0) asked = await ask({ before: 0 });
  if (asked.every(({ state }) => state === 'keeps_none')) throw new UserError(errors.decisionsNotKept);
  const silent = asked.filter(({ state }) => state !== 'answered').length;
  throw new UserError(errors.decisionNotFound, {
    id: quote(id),
    dropped: asked.reduce((sum, { dropped = 0 }) => sum + dropped, 0),
    others:
      silent === 0
        ? 'List decisions to see which there are.'
        : `A gateway that keeps none or did not answer may have it: there are ${silent}.`,
  });
}

/** The facts of a visit that are kept. */
function visitOf(row: DecisionRow): KeptVisit | undefined {
  const source = parseIp(row.source);
  if (source === undefined) return undefined;
  const isWhole = row.kind === 'https' && row.path.length < longest.path && !row.path.includes('\ufffd');
  return {
    source,
    host: row.host.toLowerCase(),
    port: row.port,
    method: row.method === '' ? undefined : row.method,
    path: isWhole ? row.path : undefined,
    routeId: row.route_id,
    person: row.person.length < longest.person ? whoMayBe(row.person) : undefined,
  };
}

/** The configuration of the moment of a decision; a sentence where it is not known. */
async function tryThen(context: ResourceContext, call: Call, row: DecisionRow): Promise<Tried | string> {
  const { services } = context;
  if (row.configuration_version === 0n) return 'The version of the configuration that was in force is not known.';
  if (call.caller.principal.role !== 'admin') return notForAll;
  const kinds = services.all(visitedEntries).flatMap(({ changeKinds = [] }) => changeKinds);
  const all = [...kinds, services.get(ipRestrictionSearch).changeKind, ...services.get(ipPolicyRuleSearch).changeKinds];
  try {
    return await services
      .get(earlierMoments)
      .read(call, String(row.configuration_version), all, (queries, past) =>
        tryVisit(context, queries, call, row, past),
      );
  } catch (error) {
    const isGone = [momentErrors.momentNotKept, momentErrors.momentToCome, rulesNotKept];
    if (error instanceof UserError && isGone.some(({ code }) => code === error.code)) return error.message;
    throw error;
  }
}

async function tryVisit(
  { services }: ResourceContext,
  queries: Queries,
  { caller: { accountId }, isAbandoned }: Call,
  row: DecisionRow,
  past?: Past,
): Promise<Tried> {
  const visit = visitOf(row);
  if (visit === undefined) throw new Error(`the decision ${row.number} has no source`);
  const place = await placeOf(services, queries, accountId, row.edge_id, new Pace(isAbandoned), past);
  const search = services.get(ipRestrictionSearch);
  const restrictions = await (past === undefined
    ? search.ofType(queries, accountId, 'endpoints')
    : search.ofTypePast(queries, accountId, 'endpoints', past));
  const settings = settingsMet(place, visit);
  const policyIds = new Set(restrictions.flatMap(({ ip_policy_ids }) => ip_policy_ids));
  for (const id of settings === undefined ? [] : referencedIds(settings, 'ip_policy')) policyIds.add(id);
  const policies = services.get(ipPolicyRuleSearch);
  const matching = await (past === undefined
    ? policies.matching(queries, [...policyIds], visit.source)
    : policies.matchingPast(queries, accountId, [...policyIds], visit.source, past));
  const rules = Map.groupBy(matching, ({ ip_policy_id }) => ip_policy_id);
  const access = {
    allows: (ids: readonly string[]) => judgeBy(ids, rules).allowed,
    denies: (ids: readonly string[]) => judgeBy(ids, rules).rule?.action === 'deny',
  };
  return { run: runVisit(place, restrictions, access, visit), rules, settings };
}

async function placeOf(
  services: ResourceContext['services'],
  queries: Queries,
  accountId: string,
  id: string,
  pace: Pace,
  past: Past | undefined,
): Promise<Parameters<typeof runVisit>[0]> {
  const may = services.all(visitedEntries).filter(({ prefix }) => hasPrefix(id, prefix));
  for (const each of may) {
    const entry = await each.load(queries, accountId, id, past);
    if (entry !== undefined) return (await openPlace(entry, pace)) ?? 'unknown';
  }
  return past !== undefined && may.some(({ changeKinds }) => changeKinds === undefined) ? 'unknown' : undefined;
}

/** Whether a visit meets the same at both moments, with the same effects. */
function isSame(one: Tried, other: Tried): boolean {
  const effects = ({ run }: Tried) => run.met.map(({ id, effect, step }) => [id, effect, step?.module]);
  return isDeepStrictEqual(one.settings, other.settings) && isDeepStrictEqual(effects(one), effects(other));
}

function presentThen(then: Tried | string, row: DecisionRow) {
  const version = row.configuration_version === 0n ? null : Number(row.configuration_version);
  if (typeof then === 'string')
    return { configuration_version: version, is_known: false, verdict: null, reason: then, checks: [] };
  return {
    configuration_version: version,
    is_known: true,
    verdict: then.run.verdict,
    reason: wordsOf(then.run),
    checks: presentChecks(then, row, row),
  };
}

function presentChecks({ run, rules }: Tried, { source }: DecisionRow, decided: DecisionRow | undefined) {
  return run.met.map((met) => ({
    kind: met.kind,
    id: met.id,
    module: met.step?.module ?? null,
    effect: met.effect,
    ip_policy_ids: met.policyIds,
    rule: ruleOf(met, rules),
    reason: reasonOf(met, rules, source, decided),
  }));
}

function ruleOf({ policyIds, effect }: Met, rules: RulesByPolicy) {
  if (policyIds.length === 0 || effect === 'not_reached') return null;
  const { rule } = judgeBy(policyIds, rules);
  return rule ?? null;
}

import { invalidTime } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import type { Answer, TopEntry } from '../../decisions/messages.ts';
import { topFields } from '../../decisions/messages.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { ResourceContext } from '../resource.ts';
import { askGateways } from './ask-gateways.ts';
import type { AskedGateway } from './ask-gateways.ts';
import * as errors from './errors.ts';
import { isComplete, presentGateway } from './gateways-view.ts';
import { presentSummary, usualDays } from './present-summary.ts';
import { bad } from './read-filter.ts';
import { readIntervals, readRange, readSelection } from './selection.ts';
import { DecisionSummary, DecisionTop, summaryQuery, topQuery } from './summary-schema.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Entries that each gateway gives: more than are shown, so that those of several can be put together. */
const topOfGateway = 1_000;
const usualTop = 20;
const mostTop = 100;

export function summaryOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/decisions/summary',
    operationId: 'DecisionsSummary',
    summary: 'Count decisions about visitors',
    description:
      'Requests, errors, refusals by cause, bytes and durations of this account by intervals of a range, of all or of what the filters leave, with what is usual at that hour. ' +
      'The last hour by the minute, without parameters. Times are rounded so that intervals are whole.',
    tag: 'Traffic',
    query: summaryQuery,
    status: 200,
    response: DecisionSummary,
    mayBeLarge: true,
    errors: [invalidTime, ...Object.values(errors)],
    handle: async (call) => {
      const intervals = readIntervals(call, Date.now());
      const { fromMs } = intervals;
      const selection = await readSelection(context, call);
      const hoursFromMs = Math.max(0, fromMs - (fromMs % hourMs) - usualDays * dayMs);
      const question = { ...selection, ...intervals, hoursFromMs };
      const asked = await askGateways(context, 'summary', question, call.isAbandoned);
      const answers = answersOf(asked);
      return {
        ...presentSummary(answers, intervals),
        is_complete: isComplete(asked, answers, fromMs),
        gateways: asked.map((each) => presentGateway(each, each.answer)),
      };
    },
  });
}

export function topOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/decisions/top',
    operationId: 'DecisionsTop',
    summary: 'List what has most decisions',
    description:
      'The sources, persons, hosts, paths, modules, edges, routes, restrictions or backends with most refusals or requests in a range; the last hour where none is given. ' +
      'Decisions are counted one by one, newest first, for a few seconds: `counted_from` says how far that went.',
    tag: 'Traffic',
    query: topQuery,
    status: 200,
    response: DecisionTop,
    errors: [invalidTime, ...Object.values(errors)],
    handle: async (call) => {
      const range = readRange(call, Date.now());
      const { by, order, limit } = readTop(call.filters);
      const selection = await readSelection(context, call);
      const question = { ...selection, ...range, by, order, limit: topOfGateway };
      const asked = await askGateways(context, 'top', question, call.isAbandoned);
      const answers = answersOf(asked);
      const { fromMs, toMs } = range;
      const reached = answers.map(({ keptFromMs, cutAtMs = 0 }) => Math.max(keptFromMs, cutAtMs));
      return {
        since: toTimestamp(fromMs),
        until: toTimestamp(toMs),
        counted_from: answers.length === 0 ? undefined : toTimestamp(Math.max(fromMs, ...reached)),
        by,
        order,
        ...joinTop(answers, order, limit),
        is_complete: isComplete(asked, answers, fromMs),
        gateways: asked.map((each) => presentGateway(each, each.answer)),
      };
    },
  });
}

function answersOf<Kind extends 'summary' | 'top'>(asked: readonly AskedGateway<Kind>[]): readonly Answer<Kind>[] {
  return asked.flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
}

function readTop(filters: Readonly<Record<string, string>>) {
  const { by: field = 'source', order = 'refused', top = String(usualTop) } = filters;
  const by = topFields.find((each) => each === field);
  if (by === undefined) throw bad('by', field, `it is one of ${topFields.join(', ')}`);
  if (order !== 'requests' && order !== 'refused') throw bad('order', order, 'it is requests or refused');
  const limit = /^\d{1,3}$/.test(top) ? Number(top) : 0;
  if (limit < 1 || limit > mostTop) throw bad('top', top, `it is a number from 1 to ${mostTop}`);
  return { by, order, limit } as const;
}

/** Puts the entries of several gateways together. */
export function joinTop(answers: readonly Answer<'top'>[], order: 'requests' | 'refused', limit: number) {
  const sums = new Map<string, TopEntry & { readonly missed: number }>();
  // What one gateway does not list may still have as many there as the last that it lists.
  const missing = answers.reduce((sum, { missedAtMost, leastListed }) => sum + missedAtMost + leastListed, 0);
  for (const { entries, leastListed } of answers)
    for (const { key, requests, refused } of entries) {
      const sum = sums.get(key) ?? { key, requests: 0, refused: 0, missed: missing };
      const missed = sum.missed - leastListed;
      sums.set(key, { key, requests: sum.requests + requests, refused: sum.refused + refused, missed });
    }
  const sorted = [...sums.values()].toSorted((a, b) => b[order] - a[order] || (a.key < b.key ? -1 : 1));
  const shown = sorted.slice(0, limit);
  return {
    entries: shown.map(({ missed: _missed, ...entry }) => entry),
    missed_at_most: Math.max(0, ...shown.map(({ missed }) => missed)),
  };
}

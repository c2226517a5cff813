import { invalidTime } from '../../api/errors.ts';
import { presentPage } from '../../api/list-page.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { askGateways } from './ask-gateways.ts';
import * as errors from './errors.ts';
import { explanationOperation } from './explanation.ts';
import { DecisionExplanation, ExplainedMoment } from './explanation-schema.ts';
import { presentDecision } from './present.ts';
import { decisionId, prefix, readDecisionFilter } from './read-filter.ts';
import { decisionQuery, DecisionsPage, DecisionView } from './schema.ts';
import { summaryOperation, topOperation } from './summary.ts';
import { DecisionCounts, DecisionPoint, DecisionSummary, DecisionTop } from './summary-schema.ts';

const path = '/decisions';
const notKept =
  'The process that answers keeps no decisions about visitors. The operator can name a folder for them in GATEHOUSE_DECISIONS, on each process that carries traffic.';

function listOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path,
    operationId: 'DecisionsList',
    summary: 'List decisions about visitors',
    description:
      'What the process that answers decided about requests and connections of this account, newest first, for as long as it keeps them (`GATEHOUSE_DECISIONS`). ' +
      'Each gateway has its own: `gateway` names the one that answers, and `other_gateways` tells how many more there are. ' +
      'A page looks through a limited number of decisions: if few of them pass the filters, it may have fewer than `limit`, or none, and still have a `next_page_uri`. ' +
      'Bodies, headers and queries are never kept.',
    tag: 'Traffic',
    listedPrefix: prefix,
    query: decisionQuery,
    status: 200,
    response: DecisionsPage,
    errors: [invalidTime, ...Object.values(errors)],
    handle: async (call) => {
      const filter = readDecisionFilter(call);
      const asked = await askGateways(
        context,
        'list',
        // One more tells whether there is a next page.
        { ...filter, limit: filter.limit + 1 },
        call.isAbandoned,
      );
      const others = asked.filter(({ state }) => state === 'not_asked').length;
      const own = asked.find(({ state }) => state === 'answered');
      if (own?.answer === undefined) {
        const page = presentPage(call, path, 'decisions', [], undefined);
        return { ...page, other_gateways: others, was_cut_off: false, dropped: 0, not_kept: notKept };
      }
      const { rows, cutAt } = own.answer;
      const shown = rows.slice(0, filter.limit);
      const nextBefore = rows.length > shown.length ? shown.at(-1)?.number : cutAt;
      return {
        ...presentPage(
          call,
          path,
          'decisions',
          shown.map(presentDecision),
          nextBefore === undefined ? undefined : decisionId(nextBefore),
        ),
        gateway: own.gateway,
        other_gateways: others,
        was_cut_off: rows.length === shown.length && cutAt !== undefined,
        dropped: own.dropped,
      };
    },
  });
}

/** Decisions about visitors that the gateway of this process keeps. */
export const decisionsResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [
    DecisionView,
    DecisionsPage,
    DecisionCounts,
    DecisionPoint,
    DecisionSummary,
    DecisionTop,
    ExplainedMoment,
    DecisionExplanation,
  ],
  operations: (context) => [
    listOperation(context),
    explanationOperation(context),
    summaryOperation(context),
    topOperation(context),
  ],
};

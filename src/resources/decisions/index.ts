import { invalidTime } from '../../api/errors.ts';
import { presentPage } from '../../api/list-page.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { askGateways } from './ask-gateways.ts';
import * as errors from './errors.ts';
import { explanationOperation } from './explanation.ts';
import { DecisionExplanation, ExplainedMoment } from './explanation-schema.ts';
import { presentGateway } from './gateways-view.ts';
import { joinPages } from './join-pages.ts';
import { decisionId, decisionPrefix as prefix, presentDecision } from '../decision-view.ts';
import { decisionQuery, DecisionsPage, DecisionView } from './schema.ts';
import { readDecisionFilter } from './selection.ts';
import { summaryOperation, topOperation } from './summary.ts';
import { DecisionCounts, DecisionPoint, DecisionSummary, DecisionTop } from './summary-schema.ts';

const path = '/decisions';
const notKept =
  'No process that carries traffic keeps decisions about visitors. The operator can name a folder for them in GATEHOUSE_DECISIONS, on each of them.';

function listOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path,
    operationId: 'DecisionsList',
    summary: 'List decisions about visitors',
    description:
      'What the gateways decided about requests and connections of this account, newest first, for as long as they keep them (`GATEHOUSE_DECISIONS`). ' +
      'Every gateway of the installation is asked: `gateways` says what became of it, and decisions of one that did not answer are not among these. ' +
      'A page looks through a limited number of decisions: if few of them pass the filters, it may have fewer than `limit`, or none, and still have a `next_page_uri`. ' +
      'Bodies, headers and queries are never kept.',
    tag: 'Traffic',
    listedPrefix: prefix,
    query: decisionQuery,
    status: 200,
    response: DecisionsPage,
    errors: [invalidTime, ...Object.values(errors)],
    handle: async (call) => {
      const filter = await readDecisionFilter(context, call);
      const asked = await askGateways(
        context,
        'list',
        // One more tells whether there is a next page.
        { ...filter, limit: filter.limit + 1 },
        call.isAbandoned,
      );
      const pages = asked.flatMap(({ gateway, answer }) =>
        gateway === undefined || answer === undefined ? [] : [{ gateway, page: answer }],
      );
      const { rows, next, wasCut } = joinPages(pages, filter.limit);
      return {
        ...presentPage(call, path, 'decisions', rows.map(presentDecision), next && decisionId(next)),
        gateways: asked.map((each) => presentGateway(each, undefined)),
        other_gateways: asked.length - pages.length,
        was_cut_off: wasCut,
        dropped: asked.reduce((sum, { dropped = 0 }) => sum + dropped, 0),
        ...(asked.some(({ state }) => state !== 'keeps_none') ? {} : { not_kept: notKept }),
      };
    },
  });
}

/** Decisions about visitors that gateways keep. */
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

import { Type } from 'typebox';

import type { QueryParameter } from '../../api/operation.ts';
import { topFields } from '../../decisions/messages.ts';
import { decisionCauses } from '../../decisions/causes.ts';
import type { DecisionCause } from '../../decisions/causes.ts';
import { gatewaysField, isCompleteField } from './gateways-view.ts';
import { decisionQuery, equal } from './schema.ts';

const numberOrNull = (description: string) => Type.Unsafe<number | null>({ type: ['number', 'null'], description });
const integer = (description: string) => Type.Integer({ description });
const time = (description: string) => Type.String({ format: 'date-time', description });

const causeDescriptions: Readonly<Record<DecisionCause, string>> = {
  rule: 'By rules about addresses or programs: an IP restriction, an IP policy, or a filter of User-Agent.',
  policy: 'By a traffic policy.',
  rate: 'By a rate limit.',
  certificate: 'For want of a client certificate that is accepted.',
  password: 'For want of a password, or after too many wrong ones.',
  token: 'For want of a token, or of the signature of a webhook, that is accepted.',
  login: 'For want of a login, or of one that may enter.',
  quota: 'For want of a place: a bound of the account or of the installation was reached.',
  other: 'By anything else.',
};

const usualFields = {
  requests: Type.Number({ description: 'Requests, and connections of TCP and TLS.' }),
  errors_4xx: Type.Number({
    description: 'Answers of 400 to 499, of the gateway or from behind it, without refusals.',
  }),
  errors_5xx: Type.Number({
    description: 'Answers of 500 and more, of the gateway or from behind it, without refusals.',
  }),
  refused: Type.Number({ description: 'Refused by the gateway.' }),
  bytes_in: Type.Number({ description: 'Bytes that visitors sent.' }),
  bytes_out: Type.Number({ description: 'Bytes that visitors got.' }),
  p50_ms: numberOrNull(
    'Half of those that were not refused took no longer, in milliseconds, to within 5 percent. null: there were none.',
  ),
  p95_ms: numberOrNull('95 of 100 that were not refused took no longer, in milliseconds, to within 5 percent.'),
};

const counts = {
  ...usualFields,
  warned: integer('Let through, although a rule that is not enforced would have refused them.'),
  refusals: Type.Object(Object.fromEntries(decisionCauses.map((cause) => [cause, integer(causeDescriptions[cause])])), {
    description: 'Refusals by cause.',
  }),
};

export const DecisionCounts = Type.Object(counts, { $id: 'DecisionCounts' });

export const DecisionPoint = Type.Object(
  {
    at: time('The beginning of the interval, RFC 3339.'),
    ...counts,
    usual: Type.Union([Type.Object(usualFields), Type.Null()], {
      description:
        'The mean of the same hour of up to seven earlier days, for as long as the interval. null: no such hour is known, or the question is about something that is not counted by the hour.',
    }),
  },
  { $id: 'DecisionPoint' },
);

export const DecisionSummary = Type.Object(
  {
    since: time('The beginning of the first interval, RFC 3339.'),
    until: time('The end of the last interval.'),
    step: integer('Seconds of an interval. Intervals begin at whole multiples of it since 1970.'),
    counted_from: Type.Optional(
      time(
        'Decisions from here on are counted, and earlier intervals are left out: these were not kept, were removed, or were not reached in time. Absent: nothing is kept.',
      ),
    ),
    durations_of: Type.String({
      enum: ['requests', 'connections'],
      description: 'What p50_ms and p95_ms are of: of connections only where there were no requests.',
    }),
    points: Type.Array(Type.Ref('DecisionPoint'), { description: 'The intervals, oldest first.' }),
    total: Type.Ref('DecisionCounts'),
    is_complete: isCompleteField,
    gateways: gatewaysField,
  },
  { $id: 'DecisionSummary' },
);

export const DecisionTop = Type.Object(
  {
    since: time('The beginning of the range, RFC 3339.'),
    until: time('The end of the range.'),
    counted_from: Type.Optional(time('Decisions from here on are counted. Absent: nothing is kept.')),
    by: Type.String({ description: 'What is counted apart.' }),
    order: Type.String({ description: 'requests or refused: what the first ones have most of.' }),
    entries: Type.Array(
      Type.Object({
        key: Type.String({ description: 'The address, person, host, path, module or id.' }),
        requests: integer('Requests and connections.'),
        refused: integer('Those that were refused.'),
      }),
      { description: 'Most first.' },
    ),
    missed_at_most: integer(
      'So many may be missing of each entry, where there were too many different ones. Usually 0.',
    ),
    is_complete: isCompleteField,
    gateways: gatewaysField,
  },
  { $id: 'DecisionTop' },
);

const selectionQuery: readonly QueryParameter[] = decisionQuery.filter(({ name }) => name !== 'request_id');

export const summaryQuery: readonly QueryParameter[] = [
  ...selectionQuery,
  equal('step', 'Seconds of an interval: whole minutes. Without it, one that gives up to 180 intervals.', '60'),
];

export const topQuery: readonly QueryParameter[] = [
  ...selectionQuery,
  equal('by', `What is counted apart: ${topFields.join(', ')}.`, 'source'),
  equal('order', 'requests, or refused, which is usual: what the first ones have most of.', 'refused'),
  equal('top', 'How many, 1 to 100; 20 are usual.', '20'),
];

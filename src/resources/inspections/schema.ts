import { Type } from 'typebox';

import { mostBodyBytes } from './build-replay.ts';
import { gatewayStates } from './share-with-gateways.ts';

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ description, minimum: 0 });

export const InspectionCreate = Type.Object(
  {
    subject_id: Type.String({
      description: 'The route, HTTPS edge or endpoint whose requests are recorded.',
      minLength: 1,
      maxLength: 64,
      examples: ['edghtsrt_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
    }),
    minutes: Type.Optional(
      Type.Integer({
        description: 'For how long, at most an hour.',
        minimum: 1,
        maximum: 60,
        default: 60,
        examples: [30],
      }),
    ),
  },
  { $id: 'InspectionCreate', additionalProperties: false },
);

const messageFields = {
  headers: Type.Array(
    Type.Object({ name: text('The name as it was sent.'), value: text('The value; secrets are masked.') }),
    {
      description: 'The first 100 headers, in order; of each value the first 1,024 characters.',
    },
  ),
  body: Type.Optional(text('The first 16 KiB of a body that is text, with secrets masked.')),
  body_bytes: count('Bytes of the body that came.'),
  body_kept: Type.String({
    enum: ['whole', 'start', 'none'],
    description: 'none: there is no body, or it is no text, in which no secret could be found.',
  }),
};

const InspectedRequestView = Type.Object(
  {
    id: text('Id of the request, as in the log and in decisions.'),
    process_id: text('The process that carried it, as GET /gateways has it.'),
    at: Type.String({ format: 'date-time', description: 'When its checks had let it pass, RFC 3339.' }),
    client_ip: text('Address of the visitor.'),
    edge_id: text('The edge or endpoint that it went through.'),
    route_id: text('The route; for an endpoint, its id.'),
    host: text('The host that was asked for.'),
    method: text('The HTTP method.'),
    target: text('Path and query; secrets are masked.'),
    protocol: text('Version of HTTP.'),
    request: Type.Object(messageFields, { description: 'As the visitor sent it.' }),
    answer: Type.Optional(
      Type.Object(
        { status: Type.Integer({ description: 'The HTTP status.' }), ...messageFields },
        { description: 'As the backend gave it. Absent: it gave none.' },
      ),
    ),
    duration_ms: Type.Number({ description: 'From when it was let pass to the end of the answer.' }),
    is_whole: Type.Boolean({ description: 'False if the answer was cut off.' }),
    replay_of: Type.Optional(
      Type.Object(
        { id: text('The request that was sent again.'), is_edited: Type.Boolean({ description: 'It was changed.' }) },
        { description: 'Present for a replay.' },
      ),
    ),
  },
  { description: 'A request that was let in, with its answer.' },
);

const gatewaysField = Type.Array(
  Type.Object({
    process_id: text('Id of the process that carries traffic, as GET /gateways has it.'),
    state: Type.String({
      enum: [...gatewayStates, 'full'],
      description:
        'answered: it records, and what it has recorded is counted here. full: it records as many inspections as it can. no_answer: it stands still. unreachable: no link leads to ' +
        'it from the process that answers (`GATEHOUSE_LINK_LISTEN`). failed: it is of another version. not_asked: there are too many gateways.',
    }),
  }),
  { description: 'Every process that carries traffic, and what became of the question there.' },
);

const fields = {
  id: Type.String({
    description: 'Unique identifier of the inspection.',
    examples: ['insp_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
  }),
  uri: text('URI of the inspection.'),
  subject_id: text('The route, HTTPS edge or endpoint whose requests are recorded.'),
  created_at: Type.String({ format: 'date-time', description: 'When it began, RFC 3339.' }),
  ends_at: Type.String({
    format: 'date-time',
    description: 'When it ends, and all that it has recorded is forgotten.',
  }),
  started_by: text('The principal who has begun it.'),
  gateways: gatewaysField,
  left_out: count('Requests that were not recorded, because there were too many at once.'),
};

export const InspectionView = Type.Object(
  { ...fields, recorded: count('Requests that are kept.') },
  { $id: 'Inspection' },
);

export const InspectionWithRequests = Type.Object(
  {
    ...fields,
    recorded: count('Requests that are kept.'),
    requests: Type.Array(InspectedRequestView, {
      description: 'The last 100 requests of each gateway at most, newest first.',
    }),
    cursor: text('Give it as `after` to see only what is recorded from now on.'),
  },
  { $id: 'InspectionWithRequests' },
);

export const InspectionsView = Type.Object(
  {
    inspections: Type.Array(Type.Ref('Inspection'), { description: 'Those under way, oldest first.' }),
    gateways: gatewaysField,
    uri: text('URI of the list resource.'),
  },
  { $id: 'Inspections' },
);

export const InspectionReplay = Type.Object(
  {
    request_id: Type.String({
      description: 'The request to send again, as the inspection shows it.',
      pattern: '^\\w{1,64}$',
      examples: ['op_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
    }),
    method: Type.Optional(Type.String({ description: 'Another method.', maxLength: 40, examples: ['POST'] })),
    target: Type.Optional(
      Type.String({ description: 'Another path and query.', maxLength: 4096, examples: ['/hooks?n=1'] }),
    ),
    headers: Type.Optional(
      Type.Array(
        Type.Object(
          { name: Type.String({ maxLength: 256 }), value: Type.String({ maxLength: 8192 }) },
          { additionalProperties: false },
        ),
        {
          description: 'All headers, in place of those that were recorded. Host stays as it was.',
          maxItems: 100,
          examples: [[{ name: 'content-type', value: 'application/json' }]],
        },
      ),
    ),
    body: Type.Optional(
      Type.String({
        description: 'Another body, of 32 KiB at most.',
        maxLength: mostBodyBytes,
        examples: ['{"event":"order.paid"}'],
      }),
    ),
  },
  { $id: 'InspectionReplay', additionalProperties: false },
);

export const InspectionReplayed = Type.Object(
  {
    id: text('Id of the new request, as in decisions. If the checks let it in, the inspection shows it too.'),
    replay_of: text('The request that was sent again.'),
    is_edited: Type.Boolean({ description: 'It was changed.' }),
    process_id: text('The process that carried it, as GET /gateways has it.'),
    left_out: Type.Array(Type.String(), {
      description: 'Headers, and with "?" parameters, that were masked and so were not sent.',
    }),
    answer: Type.Optional(
      Type.Object(
        { status: Type.Integer({ description: 'The HTTP status.' }), ...messageFields },
        { description: 'As a visitor would have got it. Absent: there was none within ten seconds.' },
      ),
    ),
    is_whole: Type.Boolean({ description: 'False if the answer was cut off.' }),
    duration_ms: Type.Number({ description: 'To the end of the answer.' }),
  },
  { $id: 'InspectionReplayed' },
);

import { Type } from 'typebox';

import { nextPageUri } from '../../api/list-page.ts';
import type { QueryParameter } from '../../api/operation.ts';
import { gatewaysField } from './gateways-view.ts';
import { verdicts } from './read-filter.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));
const integer = (description: string) => Type.Optional(Type.Integer({ description }));
const milliseconds = (description: string) =>
  Type.Optional(Type.Number({ description: `${description} In milliseconds.` }));

export const DecisionView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the decision.' }),
    gateway: Type.String({ description: 'Id of the store of decisions that has it, one for each gateway.' }),
    at: Type.String({ format: 'date-time', description: 'When the request or connection was over, RFC 3339.' }),
    kind: Type.String({ enum: ['https', 'tcp'], description: 'https: a request. tcp: a connection of TCP or TLS.' }),
    verdict: Type.String({
      enum: [...verdicts],
      description: 'warned: let through, although a rule that is not enforced would have refused it.',
    }),
    request_id: text('Id of the request or connection, where one was told or logged.'),
    edge_id: Type.String({ description: 'The edge, or the endpoint of an agent.' }),
    route_id: text('The route of an HTTPS edge.'),
    client_ip: Type.String({ description: 'Address of the visitor.' }),
    host: text('The name that was asked for.'),
    port: integer('The port of a TCP edge.'),
    method: text('The HTTP method.'),
    path: text('The path, without the query; at most 512 characters.'),
    protocol: text('Version of HTTP.'),
    status: integer('The HTTP status of the answer.'),
    code: integer("Number of the gateway's own error."),
    module: text('The module that refused, or answered in place of the backend.'),
    restrictions: Type.Optional(
      Type.Array(Type.String(), { description: 'The IP restriction that refused, or those that warned.' }),
    ),
    would_be_refused_by: text('The module or action that would have refused if it were enforced.'),
    reason: text('Why it was refused, or has ended.'),
    person: text('E-mail address or subject of the visitor who had signed in, also of one who was refused.'),
    upstream: text('The backend, or the endpoint of an agent, that it went to.'),
    duration_ms: milliseconds('How long it took.'),
    upstream_ms: milliseconds('From sending the request to the head of the answer.'),
    bytes_in: integer('Bytes that the visitor sent: of a connection, or of the body of a request.'),
    bytes_out: integer('Bytes that the visitor got: of a connection, or of the body of an answer.'),
    configuration_version: integer('Version of the configuration that was in force.'),
    worker: integer('Number of the worker that decided. Absent: there were none.'),
  },
  { $id: 'Decision' },
);

export const DecisionsPage = Type.Object(
  {
    decisions: Type.Array(Type.Ref('Decision'), { description: 'The decisions of this page, newest first.' }),
    uri: Type.String({ description: 'URI of the list resource.' }),
    next_page_uri: nextPageUri,
    gateways: gatewaysField,
    other_gateways: Type.Integer({
      description:
        'How many processes that carry traffic keep no decisions or have not answered: `gateways` tells which.',
    }),
    was_cut_off: Type.Boolean({
      description:
        'true: the page ended before it was full, after many decisions or a long time. The next page goes on.',
    }),
    dropped: Type.Integer({
      description: 'Decisions of this account that the gateways could not keep since they were started.',
    }),
    not_kept: text('Why there are none, and the setting that has them kept. Absent: they are kept.'),
  },
  { $id: 'DecisionsPage' },
);

export const equal = (name: string, description: string, example: string): QueryParameter => ({
  name,
  description,
  schema: Type.String({ examples: [example] }),
});

export const decisionQuery: readonly QueryParameter[] = [
  equal('since', 'Only decisions of this time and later, RFC 3339.', '2026-11-14T10:11:14Z'),
  equal('until', 'Only decisions of this time and earlier, RFC 3339.', '2026-11-14T11:11:14Z'),
  equal('edge_id', 'Only this edge, or endpoint of an agent.', 'edghts_2tQzYDLwIVU45s8sSMNpRfQp1Ng'),
  equal('route_id', 'Only this route.', 'edghtsrt_2tQzYDLwIVU45s8sSMNpRfQp1Ng'),
  equal('backend_id', 'Only what went to this backend, or endpoint of an agent.', 'bkdstc_2tQzYDLwIVU45s8sSMNpRfQp1Ng'),
  equal(
    'policy_id',
    'Only edges, routes and endpoints that decide by this IP policy, and what its restrictions refused.',
    'ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng',
  ),
  equal(
    'tunnel_session_id',
    'Only what the agent of this session serves: its endpoints, and groups of its labels. Others may share these; which agent took a request is not kept.',
    'ts_2tQzYDLwIVU45s8sSMNpRfQp1Ng',
  ),
  equal('source', 'Only visitors with this address, or within this CIDR.', '203.0.113.0/24'),
  equal('verdict', `Only this verdict: ${verdicts.join(', ')}.`, 'refused'),
  equal('module', 'Only what this module or action has refused, or would have if it were enforced.', 'ip_restriction'),
  equal('restriction_id', 'Only what this IP restriction has refused or warned of.', 'ipx_2tQzYDLwIVU45s8sSMNpRfQp1Ng'),
  equal('person', 'Only this visitor: the e-mail address or subject, as it is shown.', 'ada@example.com'),
  equal('host', 'Only this name, in upper or lower case.', 'shop.example.com'),
  equal('status', 'Only this HTTP status.', '403'),
  equal('request_id', 'Only the request or connection with this id.', 'op_2tQzYDLwIVU45s8sSMNpRfQp1Ng'),
];

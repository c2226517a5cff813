import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { refusalCauses } from '../../errors/refusals.ts';

const integer = (description: string) => Type.Integer({ description });
const text = (description: string) => Type.Optional(Type.String({ description }));
const names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
const milliseconds = (description: string) =>
  Type.Optional(Type.Number({ description: `${description} In milliseconds.` }));

const counts = {
  requests: integer('HTTP requests that were answered.'),
  connections: integer('TCP connections that were opened or refused.'),
  refused: integer('Requests and connections that a rule refused.'),
  warned: integer(
    'Requests and connections that an IP restriction, a rate limit or an action of a traffic policy would have refused if it were enforced.',
  ),
  errors: integer('Answers with a status of 500 or more, and connections that did not get to a backend.'),
};

const quantile = (share: string): TSchema =>
  Type.Unsafe<number | null>({
    type: ['number', 'null'],
    description: `Time in which ${share} of the requests were answered, in milliseconds, exact to a fifth; null without requests, and for a single edge.`,
  });

export const TrafficHistoryView = Type.Object(
  {
    carries_traffic: Type.Boolean({
      description: 'false: this process serves the API alone and sees no traffic. Each gateway counts its own.',
    }),
    buckets: Type.Array(
      Type.Object({
        start: Type.String({ format: 'date-time', description: 'When the minute begins, RFC 3339.' }),
        ...counts,
        p50_ms: quantile('half'),
        p99_ms: quantile('99 of 100'),
      }),
      { description: 'The last 60 minutes, oldest first; the last minute is not over.' },
    ),
    by_edge: Type.Array(
      Type.Object({ edge_id: Type.String({ description: 'The edge, or the endpoint of an agent.' }), ...counts }),
      { description: 'Traffic of the same hour by edge, the busiest first; at most 200 for each minute.' },
    ),
    uri: Type.String({ description: 'URI of this history.' }),
  },
  { $id: 'TrafficHistory' },
);

const states = ['answers', 'answers_in_part', 'slow', 'does_not_answer', 'no_login_returns', 'no_requests'];

export const TrafficHealthView = Type.Object(
  {
    gateways: integer('How many processes that carry traffic are counted.'),
    since: Type.String({
      format: 'date-time',
      description:
        'Time since which the counts are complete: an hour ago, or the start of the youngest of these processes. RFC 3339.',
    }),
    is_complete: Type.Boolean({
      description:
        'false: more edges, routes and backends had traffic than are counted, so that one without numbers may have had some too.',
    }),
    health: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The edge, route, backend, or endpoint of an agent.' }),
        state: Type.String({
          enum: states,
          description:
            'State by the requests of the last ten minutes, or, if there were none, of the hour. `does_not_answer`: none was answered, and at ' +
            'least one failed. `answers_in_part`: at least 1 in 100 failed. `slow`: more than 5 in 100 took three seconds or longer. ' +
            '`no_login_returns`: visitors were sent to sign in, and none has come back from the provider. ' +
            '`no_requests`: there were no requests to judge by.',
        }),
        requests: integer('Requests and connections of the last hour, without those that were refused.'),
        turned_away: integer(
          'Requests and connections that a rule refused, or that were faulty themselves: no backend was asked.',
        ),
        turned_away_by: Type.Array(
          Type.Object({
            cause: Type.String({
              enum: [...refusalCauses],
              description:
                'rule: IP rules. rate: a rate limit. login: no login, or one that is not let in. other: a fault of the request, or a path without a route.',
            }),
            count: integer('How many.'),
          }),
          { description: 'Refused requests and connections by cause, the most frequent first; exact to ten minutes.' },
        ),
        last_refusal: Type.Optional(
          Type.Object(
            {
              at: Type.String({ format: 'date-time', description: 'When it happened, RFC 3339.' }),
              cause: Type.String({
                enum: [...refusalCauses],
                description: 'Cause of the refusal, as in `turned_away_by`.',
              }),
              message: Type.String({ description: 'Why it was refused, and who it was where that is known.' }),
              client_ip: Type.String({ description: 'Address of the client.' }),
            },
            { description: 'The last refused request or connection. Absent: none was refused in the last hour.' },
          ),
        ),
        logins: Type.Optional(
          Type.Object(
            {
              begun: integer('Visitors who were sent to the provider.'),
              back: integer('Visitors who came back from the provider.'),
            },
            { description: 'Logins in the last hour. Absent: there were none.' },
          ),
        ),
        errors: integer('Answers with a status of 500 or more, and connections that did not get to a backend.'),
        p95_ms: quantile('95 of 100'),
        recent_requests: integer('Number of `requests` in the last ten minutes.'),
        recent_errors: integer('Number of `errors` in the last ten minutes.'),
        last_at: Type.String({ format: 'date-time', description: 'Time of the last request or connection, RFC 3339.' }),
        last_error: Type.Optional(
          Type.Object(
            {
              at: Type.String({ format: 'date-time', description: 'When it happened, RFC 3339.' }),
              message: Type.String({ description: 'The fault, in words.' }),
              status: Type.Optional(integer('The HTTP status of the answer.')),
              code: Type.Optional(integer("Number of the gateway's own error.")),
              method: text('The HTTP method.'),
              path: text('The path, without the query; at most 200 characters.'),
            },
            { description: 'The last request or connection that failed. Absent: none failed in the last hour.' },
          ),
        ),
      }),
      { description: 'Edges, routes, backends and endpoints that had traffic in the last hour.' },
    ),
    backends: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The static backend.' }),
        state: Type.String({
          enum: ['up', 'in_part', 'down', 'unchecked'],
          description:
            'up: no gateway misses an address. in_part: some address is down for some gateway. down: all addresses with a weight are ' +
            'down for all gateways. unchecked: nothing has been seen yet.',
        }),
        addresses: integer('How many addresses have a weight.'),
        answering: integer('How many of these addresses are up for every gateway.'),
        fault: Type.Optional(
          Type.Object(
            {
              address: Type.String({ description: 'The address that is down.' }),
              since: Type.Optional(Type.String({ format: 'date-time', description: 'Since when, RFC 3339.' })),
              cause: text('The last failure.'),
            },
            { description: 'The first address that is down. Absent: none is.' },
          ),
        ),
      }),
      {
        description:
          'Static backends with several addresses or with checks, among the newest 2,000, and what checks and traffic say of these addresses.',
      },
    ),
    uri: Type.String({ description: 'URI of this document.' }),
  },
  { $id: 'TrafficHealth' },
);

/** The data of the events `request` and `connection`. */
export const TrafficEventView = Type.Object(
  {
    id: Type.String({
      description: 'Unique identifier; a connection has the same when it is opened and when it is closed.',
    }),
    at: Type.String({ format: 'date-time', description: 'Time of the event, RFC 3339.' }),
    kind: Type.String({ enum: ['https', 'tcp'], description: 'Protocol of the edge or endpoint.' }),
    phase: Type.String({
      enum: ['opened', 'closed'],
      description:
        'opened: a connection has begun and goes on. closed: the request or connection is over. Requests and refused connections have this phase alone.',
    }),
    edge_id: Type.String({ description: 'The edge, or the endpoint of an agent.' }),
    route_id: text('The route of an HTTPS edge.'),
    hostport: Type.String({
      description: 'Address that the client asked for; for a TCP edge the port alone.',
      examples: [':10001'],
    }),
    client_ip: Type.String({ description: 'Address of the client.' }),
    method: text('The HTTP method.'),
    path: text('The path, without the query.'),
    protocol: text('The version of HTTP.'),
    status: Type.Optional(integer('The HTTP status of the answer; 499: the client left before the answer.')),
    verdict: Type.String({ enum: ['allowed', 'refused', 'warned'], description: 'The decision.' }),
    code: Type.Optional(integer("Number of the gateway's own error.")),
    reason: text("The message of the gateway's own error, or why a connection ended."),
    rule: Type.Optional(
      Type.Object(
        {
          policy_id: Type.String({ description: 'The IP policy.' }),
          rule_id: Type.String({ description: 'The rule in it.' }),
          cidr: Type.String({ description: 'The network of the rule.' }),
          action: Type.String({ enum: ['allow', 'deny'], description: 'Effect of the rule.' }),
        },
        {
          description:
            'The rule that decided, by the rules as they are now. Absent: no rule contains the address, or there are no rules.',
        },
      ),
    ),
    module: text('The module that refused, or that answered in place of the backend.'),
    would_be_refused_by: text(
      'The module, or the action of a traffic policy, that would have refused if it were enforced.',
    ),
    restrictions: names('The IP restriction that refused, or those that warned.'),
    duration_ms: milliseconds('Duration of the request or connection.'),
    upstream: text('The backend or the endpoint of an agent.'),
    upstream_ms: milliseconds('Time from the request to the backend until the head of its answer.'),
    bytes_in: Type.Optional(integer('Bytes of a connection from the client.')),
    bytes_out: Type.Optional(integer('Bytes of a connection to the client.')),
    headers_added: names('Names of headers that the route adds to requests.'),
    headers_removed: names('Names of headers that the route removes from requests.'),
    response_headers_added: names('Names of headers that the route adds to responses.'),
    response_headers_removed: names('Names of headers that the route removes from responses.'),
  },
  { $id: 'TrafficEvent' },
);

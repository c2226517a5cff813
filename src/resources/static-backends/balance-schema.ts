import { Type } from 'typebox';

const seconds = (description: string, minimum: number, maximum: number, example: number) =>
  Type.Integer({ description, minimum, maximum, examples: [example] });
const inARow = (description: string, example: number) =>
  Type.Integer({ description, minimum: 1, maximum: 100, examples: [example] });
const statuses = (description: string, example: string) =>
  Type.Array(Type.String({ description: 'A status, or a range of them.', examples: [example] }), {
    description,
    maxItems: 20,
    examples: [[example]],
  });

const mostAddresses = 32;

/** The values of fields that are left out. */
export const defaults = {
  retries: 1,
  whenAllDown: 'fail_open',
  passive: { failures: 3, statuses: [], down_seconds: 10 },
  active: {
    kind: 'http',
    path: '/',
    statuses: ['200-399'],
    interval_seconds: 30,
    timeout_seconds: 2,
    failures: 3,
    passes: 2,
  },
} as const;

const weight = Type.Integer({
  description:
    'Share of the address, in proportion to the others, up to 10000. 0: it gets no traffic, but is still checked.',
  minimum: 0,
  maximum: 10_000,
  examples: [1],
});
const itsAddress = Type.String({ description: 'As host:port.', examples: ['10.20.4.11:8080'] });
const by = Type.String({
  enum: ['round_robin', 'least_connections', 'source', 'header'],
  description:
    'round_robin: in turn. least_connections: the one of two that has fewer open requests and connections of this process. ' +
    'source: the same address for the same client address. header: the same for the same value of a header.',
  examples: ['least_connections'],
});
const header = Type.String({
  description: 'Name of the header, for header. Requests without it, and TCP connections, go by their source.',
  examples: ['x-user'],
});

const passiveFields = {
  failures: inARow('Failures in a row after which an address is down, over all workers of a gateway.', 3),
  statuses: statuses(
    'Statuses that count as failures, besides connections that cannot be opened or that break, and answers that are late.',
    '502-504',
  ),
  down_seconds: seconds('Time after which a request tries an address that is down.', 1, 3600, 10),
};
const activeFields = {
  kind: Type.String({
    enum: ['http', 'tcp'],
    description: 'http: asks for a path. tcp: opens a connection, with its TLS handshake where the backend has TLS.',
    examples: ['http'],
  }),
  path: Type.String({
    description: 'Path of the GET request, for http. Max 1000 characters.',
    maxLength: 1000,
    examples: ['/healthz'],
  }),
  host: Type.String({
    description: 'The header Host of the check; by default, the address.',
    maxLength: 255,
    examples: ['app.example.com'],
  }),
  statuses: statuses('Statuses that count as good, for http.', '200-399'),
  interval_seconds: seconds('Time between two checks of one address by one gateway.', 1, 3600, 30),
  timeout_seconds: seconds('Time in which the answer must begin; not more than the interval.', 1, 60, 2),
  failures: inARow('Failed checks in a row after which an address is down.', 3),
  passes: inARow('Good checks in a row after which an address is up again.', 2),
};
const enabled = Type.Optional(Type.Boolean({ description: 'false: removes the check. Default true.', default: true }));

const passiveText = 'Verdicts about the addresses by real requests and connections.';
const activeText = 'Checks that every gateway makes on every address.';

const whenAllDown = Type.String({
  enum: ['fail_open', 'fail_closed'],
  description: 'fail_open: all addresses are tried as if they were up. fail_closed: requests are answered with 503.',
  examples: ['fail_open'],
});
const retries = Type.Integer({
  description:
    'How often a request that may be repeated (GET, HEAD, OPTIONS, PUT or DELETE without a body) is sent to another address when ' +
    'one breaks off without an answer, or fails by its status. Where nothing could be sent, every address is tried.',
  minimum: 0,
  maximum: 5,
  examples: [1],
});
const slowStart = seconds(
  'Time over which an address that is up again goes from a tenth of its share to the whole.',
  0,
  3600,
  30,
);

/** The fields of a write, each of which may be left out. */
export const balanceInputs = {
  addresses: Type.Optional(
    Type.Array(
      Type.Object(
        { address: itsAddress, weight: Type.Optional(Type.Integer({ ...weight, default: 1 })) },
        { additionalProperties: false },
      ),
      {
        description: `Where traffic is sent, if that is more than one address. Max ${mostAddresses}; the first is also shown as address. [] leaves the one in address.`,
        maxItems: mostAddresses,
        examples: [[{ address: '10.20.4.11:8080', weight: 1 }, { address: '10.20.4.12:8080' }]],
      },
    ),
  ),
  balance: Type.Optional(
    Type.Object(
      { by, header: Type.Optional(header) },
      {
        description: 'How Gatehouse chooses the address for a request or connection; round_robin by default.',
        additionalProperties: false,
      },
    ),
  ),
  retries: Type.Optional(Type.Integer({ ...retries, default: defaults.retries })),
  when_all_down: Type.Optional(Type.String({ ...whenAllDown, default: defaults.whenAllDown })),
  slow_start_seconds: Type.Optional(Type.Integer({ ...slowStart, default: 0 })),
  passive_check: Type.Optional(
    Type.Object(
      {
        enabled,
        failures: Type.Optional(Type.Integer({ ...passiveFields.failures, default: defaults.passive.failures })),
        statuses: Type.Optional(passiveFields.statuses),
        down_seconds: Type.Optional(
          Type.Integer({ ...passiveFields.down_seconds, default: defaults.passive.down_seconds }),
        ),
      },
      {
        description: `${passiveText} Without it, one of several addresses that refuses a connection is left out for five seconds.`,
        additionalProperties: false,
      },
    ),
  ),
  active_check: Type.Optional(
    Type.Object(
      {
        enabled,
        kind: Type.Optional(Type.String({ ...activeFields.kind, default: defaults.active.kind })),
        path: Type.Optional(Type.String({ ...activeFields.path, default: defaults.active.path })),
        host: Type.Optional(activeFields.host),
        statuses: Type.Optional(activeFields.statuses),
        interval_seconds: Type.Optional(
          Type.Integer({ ...activeFields.interval_seconds, default: defaults.active.interval_seconds }),
        ),
        timeout_seconds: Type.Optional(
          Type.Integer({ ...activeFields.timeout_seconds, default: defaults.active.timeout_seconds }),
        ),
        failures: Type.Optional(Type.Integer({ ...activeFields.failures, default: defaults.active.failures })),
        passes: Type.Optional(Type.Integer({ ...activeFields.passes, default: defaults.active.passes })),
      },
      { description: activeText, additionalProperties: false },
    ),
  ),
};

/** As they are shown; those that were not set are not. */
export const balanceViews = {
  addresses: Type.Optional(
    Type.Array(Type.Object({ address: itsAddress, weight }), {
      description: 'Where traffic is sent, if that is more than one address; the first is that in address.',
    }),
  ),
  balance: Type.Optional(
    Type.Object(
      { by, header: Type.Optional(header) },
      { description: 'How Gatehouse chooses the address for a request or connection.' },
    ),
  ),
  retries: Type.Optional(retries),
  when_all_down: Type.Optional(whenAllDown),
  slow_start_seconds: Type.Optional(slowStart),
  passive_check: Type.Optional(Type.Object(passiveFields, { description: passiveText })),
  active_check: Type.Optional(
    Type.Object(
      {
        ...activeFields,
        path: Type.Optional(activeFields.path),
        host: Type.Optional(activeFields.host),
        statuses: Type.Optional(activeFields.statuses),
      },
      { description: activeText },
    ),
  ),
};

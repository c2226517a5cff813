import { Type } from 'typebox';
import type { Static } from 'typebox';

import { defineError, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { always, connectionCheck } from '../step.ts';
import type { ConnectionStep, ConnectionVisit, RateLimit } from '../step.ts';

const rateLimitHeaderMissing = defineError(
  20351,
  400,
  'A rate limit by header needs the name of the header, and any other rate limit has none. Give header only together with by: "header".',
);

const rateLimitBySourceOnly = defineError(
  20352,
  400,
  'Connections of TCP and TLS edges are counted by source alone, before anything of them is read. Leave by out, or set it to "source".',
);

const ways = ['source', 'header', 'certificate'] as const;
type Way = (typeof ways)[number];

const byText =
  'The clients that are told apart: each "source" address (a /64 network of IPv6 is one source), each value of a "header", or each client ' +
  '"certificate" that was shown. Connections of TCP and TLS edges are counted by source.';
const headerText =
  'Name of the header to count by. Requests without it are counted together. Clients choose their headers, so count by one that something else checks.';
const enforcedText = 'false: nobody is refused; metrics count what would have been refused.';

const limit = Type.Integer({
  description: 'Requests, or connections of a TCP or TLS edge, that each may make within the window.',
  examples: [100],
  minimum: 1,
  maximum: 1_000_000_000,
});
const windowSeconds = Type.Integer({
  description: 'Length of the window, which slides, in seconds. Max 86400.',
  examples: [60],
  minimum: 1,
  maximum: 86_400,
});

const Input = moduleInput(
  'RateLimit',
  {
    limit,
    window_seconds: windowSeconds,
    by: Type.Optional(Type.Unsafe<Way>({ type: 'string', enum: [...ways], description: byText, default: 'source' })),
    header: Type.Optional(
      Type.String({
        description: headerText,
        examples: ['x-api-key'],
        maxLength: 256,
        pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
      }),
    ),
    enforced: Type.Optional(Type.Boolean({ description: enforcedText, default: true })),
  },
  'Refuses clients that make too many requests: 429 with Retry-After, or a reset connection at a TCP or TLS edge. All gateways of the installation count together (docs/rate-limits.md).',
);

const View = moduleView('RateLimit', {
  limit,
  window_seconds: windowSeconds,
  by: Type.String({ enum: [...ways], description: byText }),
  header: Type.Unsafe<string | null>({ type: ['string', 'null'], description: headerText }),
  enforced: Type.Boolean({ description: enforcedText }),
});

interface RateLimitSettings {
  readonly enabled: boolean;
  readonly limit: number;
  readonly window_seconds: number;
  readonly by: Way;
  /** In lower case. */
  readonly header?: string;
  readonly enforced: boolean;
}

/** Refuses whoever makes too many requests or connections. */
export const rateLimit: EdgeModule<Static<typeof Input>, RateLimitSettings> = {
  name: 'rate_limit',
  title: 'Rate Limit',
  targets: ['tcp_edge', 'tls_edge', 'https_edge', 'https_route'],
  input: Input,
  view: View,
  errors: [rateLimitHeaderMissing, rateLimitBySourceOnly],
  accept({ enabled = true, limit: most, window_seconds, by = 'source', header, enforced = true }) {
    if ((by === 'header') !== (header !== undefined)) throw new UserError(rateLimitHeaderMissing);
    const named = header === undefined ? {} : { header: header.toLowerCase() };
    return { enabled, limit: most, window_seconds, by, ...named, enforced };
  },
  checkTarget(settings, target) {
    const countsConnections = target === 'tcp_edge' || target === 'tls_edge';
    if (countsConnections && settings.by !== 'source') throw new UserError(rateLimitBySourceOnly);
  },
  present: ({ header = null, ...rest }) => ({ ...rest, header }),
  build: (settings) => ({ steps: [rateStep(settings, 'own')] }),
};

/** The limit of an HTTPS edge, as each of its routes gets it beside its own: all of them count together. */
export const rateLimitOfEdge: EdgeModule<Static<typeof Input>, RateLimitSettings> = {
  ...rateLimit,
  name: 'edge_rate_limit',
  title: 'Rate Limit of the Edge',
  targets: [],
  build: (settings) => ({ steps: [rateStep(settings, 'edge')] }),
};

function rateStep(settings: RateLimitSettings, scope: RateLimit['scope']): ConnectionStep {
  const { limit: most, window_seconds, by, header = '', enforced } = settings;
  const rule = { scope, limit: most, windowMs: window_seconds * 1000, by, header, enforced };
  const run = (visit: ConnectionVisit) => visit.services.rates.take(visit, rule);
  // Whoever is in has been counted.
  const facts = { reads: header === '' ? [] : [header], once: 'rates', holds: always };
  return connectionCheck(
    'connection',
    run,
    enforced ? { ...facts, asks: { by: 'how often the visitor asks' } } : facts,
  );
}

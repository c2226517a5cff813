import { createHash } from 'node:crypto';

import { Type } from 'typebox';
import type { Static } from 'typebox';

import { duplicateEntry } from '../../errors/shared.ts';
import { defineError, quote, UserError } from '../../errors/user-error.ts';
import { anyKey } from '../../lib/any-key.ts';
import { isToken } from '../../lib/http-syntax.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule, Settings } from '../module.ts';
import type { RequestStep } from '../step.ts';
import { faultOfProviderUrl } from '../../lib/provider-url.ts';
import { invalidClaimName } from '../sign-in-errors.ts';
import { checkClaimNames } from '../sign-in-settings.ts';
import { tokenAlgorithms } from './service.ts';

const invalidTokenIssuer = defineError(
  20327,
  400,
  '{field} {url} is not acceptable: {reason}. Give a URL that begins with https://.',
);

const invalidTokenHeader = defineError(
  20328,
  400,
  'The header {header} is not acceptable. Give the name of a header, such as authorization.',
);

const issuer = Type.String({
  description: 'The issuer (`iss`) that tokens must have, exactly. Max 1024 bytes.',
  maxBytes: 1024,
  wellFormed: true,
  examples: ['https://id.example.com'],
});
const audiences = Type.Array(Type.String({ maxBytes: 1024, wellFormed: true }), {
  description: 'A token must be for one of these audiences (`aud`). At least one.',
  examples: [['https://api.example.com']],
  minItems: 1,
  maxItems: 20,
});
const allowed = Type.Array(Type.Union(tokenAlgorithms.map((each) => Type.Literal(each))), {
  description: 'Algorithms that signatures may have. Default: RS256 and ES256.',
  examples: [['RS256']],
  maxItems: tokenAlgorithms.length,
});
const jwksUri = Type.String({
  description: 'Where the keys of the issuer are. Empty: where its OpenID metadata say. Max 1024 bytes.',
  maxBytes: 1024,
  wellFormed: true,
  default: '',
  examples: ['https://id.example.com/keys'],
});
const skew = Type.Integer({
  description: 'Seconds by which clocks may differ.',
  minimum: 0,
  maximum: 300,
  default: 60,
  examples: [60],
});
const header = Type.String({
  description:
    'The header with the token: authorization (after "Bearer"), or another one that contains only the token. Max 255 bytes.',
  maxBytes: 255,
  wellFormed: true,
  default: 'authorization',
  examples: ['authorization'],
});
const claims = Type.Record(
  anyKey,
  Type.Array(Type.String({ maxBytes: 255, wellFormed: true }), { minItems: 1, maxItems: 100 }),
  {
    description: 'Claims that a token must have, each with one of these values.',
    examples: [{ scope: ['orders:read'] }],
  },
);

const Input = moduleInput(
  'JwtValidation',
  {
    issuer,
    audiences,
    algorithms: Type.Optional(allowed),
    jwks_uri: Type.Optional(jwksUri),
    clock_skew: Type.Optional(skew),
    header: Type.Optional(header),
    claims: Type.Optional(claims),
  },
  'Lets in requests that carry a signed token (JWT) of an issuer. Keys are read again when they change, and kept while the issuer is away; a key that the issuer withdraws lets nobody in ten minutes later. A token without `exp` is refused. The upstream gets the ' +
    'header as it came, and none whose name differs from it only in punctuation.',
);
const View = moduleView('JwtValidation', {
  issuer,
  audiences,
  algorithms: allowed,
  jwks_uri: jwksUri,
  clock_skew: skew,
  header,
  claims,
});

interface JwtSettings extends Settings {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly jwks_uri: string;
  readonly clock_skew: number;
  /** Lower case. */
  readonly header: string;
  readonly claims: Readonly<Record<string, readonly string[]>>;
}

/** Lets requests in that carry a signed token. */
export const jwtValidation: EdgeModule<Static<typeof Input>, JwtSettings> = {
  name: 'jwt_validation',
  title: 'JWT Validation',
  targets: ['https_route'],
  input: Input,
  view: View,
  errors: [invalidTokenIssuer, invalidTokenHeader, invalidClaimName, duplicateEntry],
  accept(input) {
    const {
      enabled = true,
      algorithms: given = [],
      jwks_uri = '',
      clock_skew = 60,
      header: named = 'authorization',
    } = input;
    for (const [field, url] of [
      ['issuer', input.issuer],
      ['jwks_uri', jwks_uri],
    ] as const) {
      const reason = field === 'jwks_uri' && url === '' ? undefined : faultOfProviderUrl(url);
      if (reason !== undefined) throw new UserError(invalidTokenIssuer, { field, url: quote(url), reason });
    }
    checkClaimNames(input.claims ?? {});
    if (!isToken(named)) throw new UserError(invalidTokenHeader, { header: quote(named) });
    return {
      enabled,
      issuer: input.issuer,
      audiences: input.audiences,
      algorithms: given.length === 0 ? ['RS256', 'ES256'] : given,
      jwks_uri,
      clock_skew,
      header: named.toLowerCase(),
      claims: input.claims ?? {},
    };
  },
  present: (settings) => settings,
  build(settings) {
    const { enabled: _enabled, ...rule } = settings;
    const key = createHash('sha256').update(JSON.stringify(rule)).digest('base64');
    const tokenRule = {
      key,
      issuer: rule.issuer,
      audiences: rule.audiences,
      algorithms: rule.algorithms,
      jwksUri: rule.jwks_uri,
      skewSeconds: rule.clock_skew,
      header: rule.header,
      claims: Object.entries(rule.claims).map(([name, values]) => [name, new Set(values)] as const),
    };
    const step: RequestStep = {
      phase: 'request',
      reads: [rule.header],
      asks: { by: 'the token of a request', needs: () => `needs a token of ${rule.issuer}` },
      soleHeader: rule.header,
      checkedHeader: rule.header,
      run: (visit) => visit.services.tokens.admit(visit, tokenRule),
      holds: ({ tokens }) => tokens.find(([of]) => of === key)?.[1] ?? 0,
    };
    return { steps: [step] };
  },
};

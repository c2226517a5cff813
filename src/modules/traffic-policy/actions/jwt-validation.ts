import { hash } from 'node:crypto';

import { tokenRefused, tokenRequired, tokensUnchecked, tooManyTokenChecks } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { any, bool, listOf, objectOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import type { Value } from '../../../lib/cel/values.ts';
import { fromJson } from '../../../lib/cel/functions/lists.ts';
import { tokenAlgorithms } from '../../jwt-validation/service.ts';
import type { TokenRule } from '../../sign-in.ts';
import type { Wait } from '../../step.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Template } from '../document/template.ts';
import { invalidConfig, notOneOf } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Action } from './action.ts';
import { errorField } from './failure-result.ts';
import { readKeyAddresses } from './jwt-keys.ts';
import { findToken, readPlaces, tokenBodyBytes } from './jwt-places.ts';
import type { TokenPlace } from './jwt-places.ts';

const mostValues = 20;
const skewSeconds = 60;

/** A token of a request, with the rules of which one must let it in. */
interface Shown {
  readonly place: TokenPlace;
  readonly token: string;
  readonly rules: readonly TokenRule[];
}

const token = objectOf('token', {
  header: any,
  payload: any,
  signature: string,
  location: string,
  location_property: string,
  verified: bool,
});

/** Lets only requests pass that carry signed tokens. */
export const jwtValidation: Action = {
  type: 'jwt-validation',
  phases: ['on_http_request'],
  guards: true,
  result: { name: 'jwt_validation', fields: { tokens: listOf(token), error: errorField } },
  build(config) {
    const issuers = readAllowed(config, 'issuer');
    if (issuers === undefined) throw config.fault(invalidConfig, 'issuer', 'it must name at least one issuer');
    const audiences = readAllowed(config, 'audience');
    const places = readPlaces(config);
    const jws = config.required('jws', config.object('jws'));
    const algorithms = readAlgorithms(jws);
    const addresses = readKeyAddresses(jws);
    jws.finish();
    const key = {};
    const rulesFor = (place: TokenPlace, text: string, visit: PolicyVisit): readonly TokenRule[] => {
      const issuer = claimsOf(text)?.['iss'];
      const allowed = issuers.map((each) => each.text(visit));
      if (typeof issuer !== 'string' || issuer === '' || !allowed.includes(issuer)) return [];
      const wanted = audiences?.map((each) => each.text(visit));
      return addresses.map((jwksUri) => ruleOf(issuer, wanted, algorithms, jwksUri, place.headerType));
    };
    return {
      ends: false,
      run(visit) {
        const { request } = visit;
        visit.spend(places.length * 100);
        const needsBody = places.some(({ method }) => method === 'body') && hasBody(request.method);
        if (needsBody && request.body === undefined) return { kind: 'hold', maxBytes: tokenBodyBytes };
        const shown: Shown[] = [];
        for (const place of places) {
          const found = findToken(place, request);
          if (found === undefined) return new UserError(tokenRequired, { 'WWW-Authenticate': 'Bearer' });
          shown.push({ place, token: found, rules: rulesFor(place, found, visit) });
        }
        let untilMs = Infinity;
        for (const each of shown) {
          const verdict = judge(visit, each);
          if (verdict instanceof UserError) return verdict;
          if (typeof verdict !== 'number') return { kind: 'wait', start: () => learnAll(visit, shown) };
          untilMs = Math.min(untilMs, verdict);
        }
        visit.keep(key, () => untilMs);
        visit.setResult('jwt_validation', () => CelMap.of({ tokens: shown.map((each) => tokenValue(each, visit)) }));
        return undefined;
      },
      holds: (visit) => visit.keep(key, () => 0),
      facts: {
        reads: places.flatMap(({ method, name }) => (method === 'header' ? [name] : ['content-type'])),
        soleHeader: places.flatMap(({ method, name }) => (method === 'header' ? [name] : [])),
      },
    };
  },
};

function hasBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

function readAllowed(config: ConfigReader, field: string): readonly Template[] | undefined {
  const reader = config.object(field);
  const values = reader?.objects('allow_list', mostValues)?.map((entry) => {
    const value = entry.required('value', entry.template('value'));
    entry.finish();
    return value;
  });
  reader?.finish();
  // An empty list lets nobody in, if it is read as it stands; it is not what somebody means.
  if (reader !== undefined && (values === undefined || values.length === 0))
    throw config.fault(invalidConfig, field, 'its allow_list must have at least one value');
  return values;
}

function readAlgorithms(jws: ConfigReader): readonly string[] {
  const given = jws.required('allowed_algorithms', jws.texts('allowed_algorithms', mostValues));
  const all = tokenAlgorithms.join(', ');
  if (given.length === 0) throw jws.fault(invalidConfig, 'allowed_algorithms', `give at least one of ${all}`);
  const wrong = given.find((each) => !tokenAlgorithms.some((known) => known === each));
  if (wrong !== undefined)
    throw new UserError(notOneOf, { path: jws.at('allowed_algorithms'), value: JSON.stringify(wrong), all });
  return given;
}

function ruleOf(
  issuer: string,
  audiences: readonly string[] | undefined,
  algorithms: readonly string[],
  jwksUri: string,
  type: string | undefined,
): TokenRule {
  const rule = { issuer, audiences, type, algorithms, jwksUri, skewSeconds };
  return { ...rule, key: hash('sha256', `policy ${JSON.stringify(rule)}`, 'base64'), header: '', claims: [] };
}

/** The first key set by which it is good decides; if none could be read, it is not known. */
function judge({ request }: PolicyVisit, { token: text, rules }: Shown): number | UserError | Wait {
  let refusal: UserError | undefined;
  for (const rule of rules) {
    const verdict = request.services.tokens.judge(request, rule, text);
    if (!(verdict instanceof UserError)) return verdict;
    const isUnknown = verdict.code === tokensUnchecked.code || verdict.code === tooManyTokenChecks.code;
    if (refusal === undefined || isUnknown) refusal = verdict;
  }
  return (
    refusal ??
    new UserError(
      tokenRefused,
      { reason: 'its issuer is not one that is let in' },
      { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    )
  );
}

/** Checks all tokens, one after the other, up to the first that is not good. */
async function learnAll(visit: PolicyVisit, shown: readonly Shown[]): Promise<undefined> {
  for (const each of shown) {
    for (let left = each.rules.length; left > 0; left--) {
      const verdict = judge(visit, each);
      if (typeof verdict === 'number') break;
      if (verdict instanceof UserError) return undefined;
      await verdict.start();
    }
  }
  return undefined;
}

/** The claims of a token that nobody has checked yet. */
function claimsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  const read = readPart(text, 1);
  // The claims are an object, whatever is in it.
  return typeof read === 'object' && read !== null ? (read as Readonly<Record<string, unknown>>) : undefined;
}

function readPart(text: string, at: number): unknown {
  try {
    return JSON.parse(Buffer.from(text.split('.')[at] ?? '', 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

function tokenValue({ place, token: text }: Shown, visit: PolicyVisit): Value {
  visit.spend(text.length / 16);
  return CelMap.of({
    header: fromJson(readPart(text, 0) ?? null, visit.frame),
    payload: fromJson(readPart(text, 1) ?? null, visit.frame),
    signature: text.split('.')[2] ?? '',
    location: place.method,
    location_property: place.name,
    verified: true,
  });
}

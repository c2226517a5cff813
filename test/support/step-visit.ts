import assert from 'node:assert/strict';

import { UserError } from '../../src/errors/user-error.ts';
import { parseIp } from '../../src/lib/ip/address.ts';
import type { SignIn } from '../../src/modules/sign-in.ts';
import type { Answering, ModulePart, Outcome, RequestVisit } from '../../src/modules/step.ts';
import { visitBudget } from '../../src/modules/visit-budget.ts';

const unasked = (): never => assert.fail('nobody is asked');

/** A request as steps see it. Passwords are looked at, and nothing else is asked. */
export function requestVisit(given: Partial<RequestVisit> = {}): RequestVisit {
  const kept = new Map<string, unknown>();
  return {
    accountId: 'ac_1',
    edgeId: 'edghts_1',
    ownerId: 'edghtsrt_1',
    source: parseIp('192.0.2.1')!,
    countedSource: 1,
    hostname: 'app.example.com',
    isTls13: true,
    facts: unasked,
    endpoint: () => ({ id: 'edghts_1', protocol: 'https', host: 'app.example.com', port: 443 }),
    policy: undefined,
    warn: () => undefined,
    budget: visitBudget(),
    httpVersion: '1.1',
    certificate: undefined,
    headers: [],
    method: 'GET',
    host: 'app.example.com',
    target: '/',
    urls: [],
    isUpgrade: false,
    body: undefined,
    operationId: () => 'op_1',
    upstreamTarget: given.target ?? '/',
    outgoing: [],
    outgoingBody: undefined,
    identity: undefined,
    cookies: [],
    tokens: [],
    circuits: [],
    kept<State>(key: string, make: () => State): State {
      if (!kept.has(key)) kept.set(key, make());
      return kept.get(key) as State;
    },
    services: {
      access: { allows: unasked, denies: unasked, isUnloadable: () => false },
      rates: { take: unasked },
      requests: { send: unasked },
      secrets: { get: unasked },
      notes: { add: unasked },
      passwords: { check: ({ headers }, refuses) => refuses(headers) },
      tokens: { admit: unasked, judge: unasked },
      logins: { admit: unasked, holds: unasked, idToken: unasked },
    },
    ...given,
  };
}

/** Runs the one step of a module. */
export function runOnly({ steps = [] }: ModulePart, visit: RequestVisit): Outcome | undefined {
  const [step, ...more] = steps;
  assert.deepEqual(more, []);
  return step?.run(visit);
}

/** The refusal of the one step of a module, which says nothing else. */
export function refusalOf(part: ModulePart, given: Partial<RequestVisit>): UserError | undefined {
  const outcome = runOnly(part, requestVisit(given));
  assert.ok(outcome === undefined || outcome instanceof UserError);
  return outcome;
}

/** The login that a module asks for. */
export function signInOf({ steps = [] }: ModulePart): SignIn {
  const [signIn] = [steps[0]?.signIn ?? []].flat();
  return signIn ?? assert.fail('it asks for none');
}

/** An answer of an upstream as steps see it. */
export function answering(headers: readonly string[]): Answering {
  return {
    request: { method: 'GET', headers: [] },
    visit: requestVisit(),
    status: 200,
    headers,
    contentLength: undefined,
    openTransform: undefined,
    mayEncode: () => false,
    hold: () => {},
    isEncodable: true,
  };
}

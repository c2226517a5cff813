import { createHash, timingSafeEqual } from 'node:crypto';

import { credentialsRequired } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { EvaluationFault } from '../../../lib/cel/run.ts';
import { bool, objectOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { sentCredentials } from '../../sent-credentials.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Template } from '../document/template.ts';
import { invalidPassword, invalidUserName, invalidValue } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Action } from './action.ts';

const mostCredentials = 10;
const [shortest, longest] = [8, 128];
const longestRealm = 128;

/** Asks visitors for one of several names and passwords. */
export const basicAuth: Action = {
  type: 'basic-auth',
  phases: ['on_http_request'],
  guards: true,
  result: {
    name: 'basic_auth',
    fields: { credentials: objectOf('credentials', { presented: bool, authorized: bool, username: string }) },
  },
  build(config) {
    const isEnforced = config.boolean('enforce') ?? true;
    const credentials = config.required('credentials', config.templates('credentials', mostCredentials));
    if (credentials.length === 0)
      throw config.fault(invalidValue, 'credentials', 'there is none, so that nobody could come in');
    for (const [at, credential] of credentials.entries()) checkConstant(credential, `credentials[${at}]`, config);
    const challenge = { 'WWW-Authenticate': `Basic realm="${readRealm(config)}", charset="UTF-8"` };
    const isKnown = (visit: PolicyVisit): boolean => {
      const expected = credentials.map((each) => digestOf(credentialOf(each, visit)));
      const sent = sentCredentials(visit.engine.headers);
      if (sent === undefined) return false;
      const digest = digestOf(sent);
      // All are compared, so that the time does not tell which one fits.
      return expected.filter((each) => timingSafeEqual(each, digest)).length > 0;
    };
    return {
      ends: false,
      guards: isEnforced,
      run(visit) {
        const authorized = isKnown(visit);
        const sent = sentCredentials(visit.engine.headers);
        const username = sent?.toString().split(':', 1)[0] ?? '';
        const result = CelMap.of({ presented: sent !== undefined, authorized, username });
        visit.setResult('basic_auth', () => CelMap.of({ credentials: result }));
        if (!isEnforced) return authorized ? undefined : visit.engine.warn('basic-auth');
        const refusal = authorized ? undefined : new UserError(credentialsRequired, challenge);
        return visit.request.services.passwords.check(visit.engine, () => refusal);
      },
      ...(isEnforced && { holds: (visit: PolicyVisit) => (isKnown(visit) ? Infinity : 0) }),
      facts: { reads: ['authorization'] },
    };
  },
};

/** The name and the password. The colon between them is written out, unless one expression has both. */
function credentialOf(template: Template, visit: PolicyVisit): string {
  const pieces = template.pieces(visit);
  const text = pieces.map((piece) => piece.text).join('');
  const isWhole = pieces.length === 1;
  if (!isWhole && pieces.some((piece) => piece.isValue && piece.text.includes(':')))
    throw new EvaluationFault('a part of a credential has a colon');
  const reason = template.constant === undefined ? faultOf(text) : undefined;
  if (reason !== undefined) throw new EvaluationFault(`a credential is not acceptable: ${reason[1]}`);
  return text;
}

function checkConstant({ constant }: Template, place: string, config: ConfigReader): void {
  const fault = constant === undefined ? undefined : faultOf(constant);
  if (fault === undefined) return;
  throw config.fault(fault[0] === 'name' ? invalidUserName : invalidPassword, place, fault[1]);
}

function faultOf(text: string): readonly ['name' | 'password', string] | undefined {
  const colon = text.indexOf(':');
  if (colon <= 0) return ['name', 'it has no name with a colon behind it, as in name:password'];
  const { length } = text.slice(colon + 1);
  if (length < shortest || length > longest) return ['password', `a password has ${shortest} to ${longest} characters`];
  return undefined;
}

function readRealm(config: ConfigReader): string {
  const realm = config.text('realm') ?? 'restricted';
  if (realm.length > longestRealm || !/^[ !#-[\]-~]*$/.test(realm))
    throw config.fault(
      invalidValue,
      'realm',
      `it has at most ${longestRealm} printable characters of ASCII, without " and \\`,
    );
  return realm;
}

function digestOf(credential: string | Buffer): Buffer {
  return createHash('sha256').update(credential).digest();
}

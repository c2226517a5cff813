import { refusedByModule } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { formatIp } from '../lib/ip/address.ts';
import { someNames } from '../lib/some-names.ts';
import type { EntryRules, SignIn } from './sign-in.ts';
import type { RequestStep, RequestVisit } from './step.ts';

/** Asks visitors for a login, unless the network that they come from decides. */
export function signInStep(signIn: SignIn): RequestStep {
  const { network, mayEnter } = signIn;
  const isInside = ({ services, source }: RequestVisit): boolean =>
    network !== undefined && services.access.allows(network.policyIds, source);
  return {
    phase: 'request',
    reads: ['cookie'],
    asks: {
      by: 'the login of a visitor',
      needs: () => `is asked to sign in${describe(mayEnter)}`,
      refusal: 'its login lets in others, and not this visitor',
    },
    signIn,
    run(visit) {
      visit.identity ??= [];
      if (signIn.optionsPassthrough && visit.method === 'OPTIONS') return undefined;
      const inside = isInside(visit);
      if (network?.rule === 'and_login' && !inside)
        return new UserError(refusedByModule, { address: formatIp(visit.source) });
      return visit.services.logins.admit(visit, signIn, inside && network?.rule === 'or_login');
    },
    holds(visit) {
      const inside = isInside(visit);
      if (network?.rule === 'and_login' && !inside) return 0;
      // A session that is over, or lets nobody in, is not missed where none is needed.
      return visit.services.logins.holds(visit, signIn) || (inside && network?.rule === 'or_login' ? Infinity : 0);
    },
  };
}

/** The first of those who may enter, in words. */
function describe({ groups, domains, emails, claims }: EntryRules): string {
  const who = [...groups, ...[...domains].map((each) => `@${each}`), ...emails];
  const names = claims.map(([name]) => name);
  const whose = who.length === 0 ? '' : `: ${someNames(who, 'or')}`;
  return `${whose}${names.length === 0 ? '' : ` with the right ${someNames(names, 'and')}`}`;
}

import type { SecureContext } from 'node:tls';

import { EvaluationFault } from '../../lib/cel/run.ts';
import type { ConnectionServices, TlsTerms } from '../../modules/step.ts';
import { buildContext } from '../certificates/build-context.ts';

/** Why the terms of a policy cannot be read, as logs tell it. */
export function termsFault(error: unknown): string {
  return error instanceof EvaluationFault ? error.logged : 'a certificate that the policy names cannot be used';
}

/** How TLS ends by the terms of a policy, as they are now. */
export interface TermsNow {
  /** The same as long as their certificates are. */
  readonly key: string;
  readonly needsTls13: boolean;
  readonly needsTls12: boolean;
  /** Undefined: clients are not asked for a certificate. */
  readonly clientCa: string | undefined;
  /** Undefined: the certificate is chosen by the name. */
  readonly own: SecureContext | undefined;
}

/** Reads the terms when a client comes. Throws where a certificate is missing or cannot be used. */
export function termsReader(
  { key, minVersion, maxVersion, read }: TlsTerms,
  secrets: ConnectionServices['secrets'],
): (accountId: string) => TermsNow {
  let known: { readonly of: object; readonly terms: TermsNow } | undefined;
  let changes = 0;
  return (accountId) => {
    const pems = read(accountId, secrets);
    if (known?.of === pems) return known.terms;
    const { clientCa, pair } = pems;
    const terms = {
      key: `${key} ${changes++}`,
      needsTls13: minVersion === '1.3',
      needsTls12: maxVersion === '1.2',
      clientCa,
      own: pair && buildContext(pair),
    };
    known = { of: pems, terms };
    return terms;
  };
}

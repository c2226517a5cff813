import { Type } from 'typebox';
import type { Static } from 'typebox';

import { duplicateEntry } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { maxAuthorities, readAuthorities } from '../client-authorities.ts';
import { invalidClientCa } from '../client-authority-errors.ts';
import { someNames } from '../../lib/some-names.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule, Ref } from '../module.ts';
import { checkShownCertificate } from '../shown-certificate.ts';
import { connectionCheck } from '../step.ts';
import type { ConnectionVisit, NameOf } from '../step.ts';
import * as errors from './errors.ts';

const Input = moduleInput(
  'MutualTls',
  {
    certificate_authority_ids: Type.Optional(
      Type.Array(Type.String(), {
        description: `Ids of certificate authorities. A visitor must show a certificate of one of them. At least one, at most ${maxAuthorities}.`,
        examples: [['ca_2tQzYDLwIVU45s8sSMNpRfQp1Ng']],
        maxItems: maxAuthorities,
      }),
    ),
  },
  'Asks visitors for a certificate in the TLS handshake, for the names of this edge. Without one, or with one that none of ' +
    'the authorities has signed, requests are answered with 403, and connections to a TLS edge are closed. Upstreams of HTTPS edges get what the certificate says in the headers ' +
    '`X-Client-Cert-Subject`, `-Names`, `-Serial` and `-Fingerprint`, which visitors cannot set themselves.',
);

const View = moduleView('MutualTls', {
  certificate_authorities: Type.Array(Type.Ref('Ref'), {
    description: 'The certificate authorities. A visitor must show a certificate of one of them.',
  }),
});

/** Agents give the certificates of authorities themselves; edges name authorities, whose certificates the gateway gets. */
type MutualTlsInput = Static<typeof Input> & { readonly ca_pem?: string };

interface MutualTlsSettings {
  readonly enabled: boolean;
  readonly certificate_authority_ids?: readonly string[];
  readonly ca_pem?: string;
}

/** Asks visitors for a certificate by one of the given authorities. */
export const mutualTls: EdgeModule<MutualTlsInput, MutualTlsSettings> = {
  name: 'mutual_tls',
  title: 'Mutual TLS',
  targets: ['https_edge', 'tls_edge', 'agent_endpoint'],
  input: Input,
  view: View,
  errors: [...Object.values(errors), duplicateEntry, invalidClientCa],
  references: [
    {
      kind: 'certificate_authority',
      field: 'certificate_authority_ids',
      nameField: 'certificate_authorities',
      ids: ({ certificate_authority_ids = [] }) => certificate_authority_ids,
      wrongKind: (id) => new UserError(errors.notAnAuthorityId, { id: quote(id) }),
      missing: (id) => new UserError(errors.authorityMissing, { id: quote(id) }),
    },
  ],
  accept({ enabled = true, certificate_authority_ids = [], ca_pem }) {
    if (ca_pem !== undefined) return { enabled, ca_pem: readAuthorities(ca_pem) };
    if (certificate_authority_ids.length === 0) throw new UserError(errors.authorityRequired);
    return { enabled, certificate_authority_ids };
  },
  present: ({ enabled, certificate_authority_ids = [] }, ref) => ({
    enabled,
    certificate_authorities: certificate_authority_ids.map((id): Ref => ref('certificate_authority', id)),
  }),
  build({ ca_pem = '', certificate_authority_ids: ids = [] }) {
    if (ca_pem === '') throw new Error('the certificates of the authorities are missing');
    const check = ({ certificate }: ConnectionVisit) => checkShownCertificate(ca_pem, certificate);
    const holds = (visit: ConnectionVisit): number =>
      check(visit) === undefined ? (visit.certificate?.validUntilMs ?? 0) : 0;
    const needs = (nameOf: NameOf): string => `needs a certificate of ${someNames(ids.map(nameOf), 'or')}`;
    const asks = { by: 'the certificate of a visitor', needs };
    return { steps: [connectionCheck('handshake', check, { clientCa: ca_pem, holds, asks })] };
  },
};

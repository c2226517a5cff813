import { Type } from 'typebox';
import type { Static } from 'typebox';

import { connectionPredatesRules } from '../../errors/shared.ts';
import { defineError, UserError } from '../../errors/user-error.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import { connectionCheck } from '../step.ts';

export const minVersionUpstream = defineError(
  20306,
  400,
  'The min_version {version} cannot be enforced if TLS ends upstream, because the gateway does not read what it passes on. Leave it out, or set "terminate_at" to "edge".',
);

const versions = ['1.2', '1.3'] as const;
type Version = (typeof versions)[number];

const places = ['edge', 'upstream'] as const;
type Place = (typeof places)[number];

const placeText =
  '"edge": TLS ends at the gateway, and the backend gets the decrypted bytes. "upstream", for TLS edges only: the gateway passes the bytes on unread.';
const minVersionText =
  'Lowest version of TLS that clients may speak, "1.2" or "1.3". Without it: 1.2. None where TLS ends upstream.';

const Input = moduleInput('TlsTermination', {
  terminate_at: Type.Optional(
    Type.Union(
      places.map((each) => Type.Literal(each)),
      { description: placeText, default: 'edge' },
    ),
  ),
  min_version: Type.Optional(
    Type.Union(
      versions.map((each) => Type.Literal(each)),
      { description: minVersionText },
    ),
  ),
});

const View = moduleView('TlsTermination', {
  terminate_at: Type.String({ enum: [...places], description: placeText }),
  min_version: Type.Unsafe<Version | null>({ type: ['string', 'null'], description: minVersionText }),
});

interface TlsTerminationSettings {
  readonly enabled: boolean;
  /** At the edge, where it is left out. */
  readonly terminate_at?: Exclude<Place, 'edge'>;
  readonly min_version?: Version;
}

const tls13Step = connectionCheck(
  'handshake',
  ({ isTls13 }) => (isTls13 ? undefined : new UserError(connectionPredatesRules)),
  { needsTls13: true, asks: { by: 'the version of TLS' } },
);

/** How TLS ends for the names of an edge. */
export const tlsTermination: EdgeModule<Static<typeof Input>, TlsTerminationSettings> = {
  name: 'tls_termination',
  title: 'TLS Termination',
  targets: ['https_edge', 'tls_edge'],
  input: Input,
  view: View,
  errors: [minVersionUpstream],
  accept({ enabled = true, terminate_at, min_version }) {
    if (terminate_at !== 'upstream') return { enabled, ...(min_version === undefined ? {} : { min_version }) };
    if (min_version !== undefined) throw new UserError(minVersionUpstream, { version: min_version });
    return { enabled, terminate_at };
  },
  present: ({ enabled, terminate_at = 'edge', min_version = null }) => ({ enabled, terminate_at, min_version }),
  build: ({ min_version }) => (min_version === '1.3' ? { steps: [tls13Step] } : {}),
};

/** Whether the stored settings end TLS upstream. */
export function endsUpstream(settings: Partial<TlsTerminationSettings> | undefined): boolean {
  return settings?.terminate_at === 'upstream';
}

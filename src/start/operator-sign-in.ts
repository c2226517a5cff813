import { connect as connectTcp, isIP } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import type { SecureContext } from 'node:tls';

import type { Config } from '../config/config.ts';
import { connectThroughGate } from '../lib/handshake-gate.ts';
import type { Logger } from '../log.ts';
import type { OperatorSignIn } from '../resources/resource.ts';
import { createFetch } from '../sign-in/guarded-fetch.ts';
import type { Connect } from '../sign-in/guarded-fetch.ts';
import { Signatures } from '../sign-in/signatures.ts';
import { readAuthorities } from './start-gateway.ts';

/** The identity provider of the settings; undefined where there is none. */
export function operatorSignIn(config: Config, log: Logger): OperatorSignIn | undefined {
  const { oidcIssuer: issuer, oidcClientId = '', publicUrl = '', upstreamCa } = config;
  if (issuer === undefined) return undefined;
  const fetchFor = createFetch(connectWith(upstreamCa === undefined ? [] : [readAuthorities(upstreamCa)]));
  return {
    provider: {
      name: 'oidc',
      issuer,
      clientId: oidcClientId,
      clientSecret: config.oidcClientSecret ?? config.oidcClientSecretFile ?? '',
      scopes: config.oidcScopes,
      groupsClaim: config.oidcGroupsClaim,
    },
    fetch: fetchFor(''),
    signatures: new Signatures({ fetchFor, log }),
    callbackUrl: `${publicUrl}/dashboard/sign-in/callback`,
    label: config.oidcLabel ?? new URL(issuer).host,
    rules: config.oidcRules,
    checkSeconds: config.oidcCheckSeconds,
    warn: (fields, message) => {
      log.warn(fields, message);
    },
  };
}

/** The provider is named by whoever runs the server, and may be anywhere, also behind an edge of this installation. */
function connectWith(authorities: readonly string[]): Connect {
  let secureContext: SecureContext | undefined;
  return ({ host, port, tls }, _options, established) => {
    if (!tls) return connectTcp({ host, port }, established);
    secureContext ??= createSecureContext({ ca: [...getCACertificates('default'), ...authorities] });
    const tcp = connectTcp({ host, port, noDelay: true });
    const named = isIP(host) === 0 ? { servername: host } : {};
    return connectThroughGate(tcp, { host, secureContext, ...named }).once('secureConnect', established);
  };
}

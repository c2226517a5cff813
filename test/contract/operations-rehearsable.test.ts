import assert from 'node:assert/strict';
import { test } from 'node:test';

import { operations } from './support/operations.ts';

/** Writes that may be carried out and undone, to see who would notice: they decide about visitors, and tell nothing to the outside. */
const rehearsable = [
  'IpPoliciesCreate',
  'IpPoliciesUpdate',
  'IpPoliciesDelete',
  'IpPolicyRulesCreate',
  'IpPolicyRulesUpdate',
  'IpPolicyRulesDelete',
  'IpPolicyRulesReplace',
  'IpRestrictionsCreate',
  'IpRestrictionsUpdate',
  'IpRestrictionsDelete',
  'TcpEdgesCreate',
  'TcpEdgesUpdate',
  'TcpEdgesDelete',
  'HttpsEdgesCreate',
  'HttpsEdgesUpdate',
  'HttpsEdgesDelete',
  'HttpsEdgeRoutesCreate',
  'HttpsEdgeRoutesUpdate',
  'HttpsEdgeRoutesDelete',
  'TlsEdgesCreate',
  'TlsEdgesUpdate',
  'TlsEdgesDelete',
  'EndpointsCreate',
  'EndpointsUpdate',
  'EndpointsDelete',
  'ChangesRevert',
  'ConfigurationApply',
  'ConfigurationReturn',
];
/** Modules by the place that takes them, whose setting and deleting may be. */
const modules = {
  TcpEdge: ['IpRestriction', 'RateLimit', 'Policy', 'TrafficPolicy', 'Backend'],
  HttpsEdge: ['RateLimit', 'MutualTls', 'TlsTermination'],
  HttpsEdgeRoute: [
    'IpRestriction',
    'RateLimit',
    'UserAgentFilter',
    'BasicAuth',
    'JwtValidation',
    'Oauth',
    'Oidc',
    'WebhookVerification',
    'Policy',
    'TrafficPolicy',
    'CircuitBreaker',
    'WebsocketTcpConverter',
    'Redirect',
    'Backend',
    'PathRewrite',
    'RequestHeaders',
    'ResponseHeaders',
    'Compression',
  ],
  TlsEdge: ['IpRestriction', 'RateLimit', 'MutualTls', 'TlsTermination', 'Policy', 'TrafficPolicy', 'Backend'],
};

test('only operations of this list may be rehearsed: a new one has to be meant', () => {
  const ofModules = Object.entries(modules).flatMap(([place, names]) =>
    names.flatMap((name) => [`${place}${name}Replace`, `${place}${name}Delete`]),
  );
  const stated = operations.filter(({ described }) => described['x-rehearsable'] === true).map(({ id }) => id);
  assert.deepEqual(stated.toSorted(), [...rehearsable, ...ofModules].toSorted());
});

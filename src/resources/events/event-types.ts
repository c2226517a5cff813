import { alertTypes, typeOfAlert } from '../alerts/service.ts';
import { operatorSignIn } from '../changes/service.ts';
import { trafficTypes } from './traffic-types.ts';

/** Kinds of the change log that have another name in events. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['credential', 'tunnel_credential'],
  ['reserved_addr', 'tcp_address'],
  ['reserved_domain', 'domain'],
]);

/** Kinds of the change log of which there are events. */
const kinds = [
  'account',
  'api_key',
  'bot_user',
  'certificate_authority',
  'credential',
  'endpoint',
  'event_destination',
  'event_subscription',
  'failover_backend',
  'http_response_backend',
  'https_edge',
  'https_edge_route',
  'invitation',
  'ip_policy',
  'ip_policy_rule',
  'ip_restriction',
  'ip_restriction_decision',
  'kubernetes_operator',
  'reserved_addr',
  'reserved_domain',
  'static_backend',
  'tcp_edge',
  'tls_certificate',
  'tls_edge',
  'tunnel_group_backend',
  'user',
  'vault',
  'vault_secret',
  'weighted_backend',
];

const actions = ['created', 'updated', 'deleted'];

/** Kinds of the log that no call lists, and the types of their events. */
const signInTypes: ReadonlyMap<string, string> = new Map([[operatorSignIn, 'operator_signed_in.v0']]);

/** The type of the event of a change. `action` is one of those above. */
export function typeOfChange(kind: string, action: string): string {
  return typeOfAlert(kind, action) ?? signInTypes.get(kind) ?? `${otherNames.get(kind) ?? kind}_${action}.v0`;
}

const changeTypes = kinds.flatMap((kind) => actions.map((action) => typeOfChange(kind, action)));

/** Every type that is sent, in the order of the alphabet. */
export const eventTypes: readonly string[] = [
  ...changeTypes,
  ...alertTypes,
  ...signInTypes.values(),
  ...trafficTypes,
].toSorted();

const known: ReadonlySet<string> = new Set(eventTypes);

export function isEventType(type: string): boolean {
  return known.has(type);
}

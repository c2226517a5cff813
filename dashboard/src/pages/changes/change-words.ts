import type { Change, IpRestriction } from '../../../../client/src/index.ts';
import { countOf, formatNumber, restrictionName, shortId } from '../../lib/text.ts';

type RestrictionType = IpRestriction['type'];

interface Kind {
  readonly word: string;
  /** The page that shows one of them. */
  readonly page?: string;
}

/** Kinds of resources, in the order of the filter. */
const kinds: Readonly<Record<string, Kind>> = {
  ip_restriction: { word: 'IP restriction', page: 'ip-restrictions' },
  ip_policy: { word: 'IP policy', page: 'ip-policies' },
  ip_policy_rule: { word: 'rule of an IP policy' },
  api_key: { word: 'API key', page: 'api-keys' },
  bot_user: { word: 'bot', page: 'bot-users' },
  user: { word: 'user', page: 'users' },
  invitation: { word: 'invitation' },
  https_edge: { word: 'HTTPS edge', page: 'https-edges' },
  https_edge_route: { word: 'route of an HTTPS edge' },
  tcp_edge: { word: 'TCP edge', page: 'tcp-edges' },
  tls_edge: { word: 'TLS edge', page: 'tls-edges' },
  static_backend: { word: 'backend', page: 'backends' },
  tunnel_group_backend: { word: 'tunnel group backend', page: 'backends' },
  weighted_backend: { word: 'weighted backend', page: 'backends' },
  failover_backend: { word: 'failover backend', page: 'backends' },
  http_response_backend: { word: 'fixed answer', page: 'backends' },
  tls_certificate: { word: 'certificate', page: 'certificates' },
  certificate_authority: { word: 'authority of visitors', page: 'certificates' },
  reserved_domain: { word: 'reserved domain', page: 'reserved-names' },
  reserved_addr: { word: 'reserved address', page: 'reserved-names' },
  endpoint: { word: 'cloud endpoint', page: 'endpoints' },
  vault: { word: 'vault', page: 'vaults' },
  vault_secret: { word: 'secret', page: 'vaults' },
  event_destination: { word: 'event destination' },
  event_subscription: { word: 'event subscription' },
  credential: { word: 'agent credential', page: 'agents' },
  account: { word: 'account' },
};

export const kindOptions: readonly (readonly [kind: string, words: string])[] = Object.entries(kinds).map(
  ([kind, { word }]) => [kind, word],
);

export function kindWord(kind: string): string {
  return kinds[kind]?.word ?? kind.replaceAll('_', ' ');
}

export const actionWords: Readonly<Record<Change['action'], string>> = {
  create: 'Created',
  update: 'Changed',
  delete: 'Deleted',
};

/** Where the resource of a change can be seen, if it still exists and has a page. */
export function pathOfResource({ kind, resource_id: id, before, after }: Change): string | undefined {
  if (kind === 'ip_policy_rule') {
    const policy = textOf(after ?? before, 'ip_policy_id');
    return policy === undefined ? undefined : `/ip-policies/${policy}`;
  }
  if (kind === 'https_edge_route') {
    const edge = textOf(after ?? before, 'edge_id');
    return edge === undefined ? undefined : `/https-edges/${edge}`;
  }
  const page = kinds[kind]?.page;
  return page === undefined || after === null ? undefined : `/${page}/${id}`;
}

/** Calls by which somebody has accepted an invitation: they delete it, and create a user with a first key. */
export function acceptances(changes: readonly Change[]): ReadonlySet<string> {
  const users = new Set(changes.filter(isCreated('user')).map(({ operation_id: call }) => call));
  const ended = changes.filter(({ kind, action }) => kind === 'invitation' && action === 'delete');
  return new Set(ended.map(({ operation_id: call }) => call).filter((call) => users.has(call)));
}

/** False for a part of an acceptance whose user stands for it. */
export function hasRow(change: Change, accepted: ReadonlySet<string>): boolean {
  return !accepted.has(change.operation_id) || isCreated('user')(change);
}

function isCreated(wanted: string): (change: Change) => boolean {
  return ({ kind, action }) => kind === wanted && action === 'create';
}

/** Says in a line what happened. `known` names things of which a change holds the id alone. */
export function titleOf(
  change: Change,
  known: ReadonlyMap<string, string>,
  accepted: ReadonlySet<string> = new Set(),
): string {
  const { action, kind, before, after } = change;
  const name = subjectOf(change, known);
  if (kind === 'user' && accepted.has(change.operation_id)) return `${name} accepted the invitation`;
  if (kind === 'invitation' && action !== 'update')
    return `${name} ${action === 'create' ? 'invited' : 'is no longer invited'}`;
  if (action === 'create') return `${name} created`;
  if (action === 'delete') return `${name} deleted`;
  const replaced = replacedRules(after);
  if (replaced !== undefined) return `${name}: ${replaced}`;
  const modules = changedModules(before, after);
  if (modules !== undefined) return `${name}: ${modules}`;
  const fields = changedFields(before, after);
  if (fields.length === 1 && fields[0] === 'enforced') {
    return after?.['enforced'] === true ? `${name} is now enforced` : `${name} is no longer enforced`;
  }
  if (kind === 'user' && fields.length === 1) {
    if (fields[0] === 'role') return `${name}: role ${textOf(before, 'role')} changed to ${textOf(after, 'role')}`;
    if (fields[0] === 'active') return `${name} ${after?.['active'] === true ? 'let back in' : 'deactivated'}`;
  }
  return fields.length === 0 ? `${name} saved, nothing changed` : `${name}: ${listOf(fields)} changed`;
}

/** Name of the thing: its description, else what tells it apart, else its id. */
export function subjectOf(
  { kind, resource_id: id, before, after }: Pick<Change, 'kind' | 'resource_id' | 'before' | 'after'>,
  known: ReadonlyMap<string, string>,
): string {
  // Fields that a change does not name stayed as they were.
  const document = { ...before, ...after };
  const cidr = textOf(document, 'cidr');
  if (kind === 'ip_policy_rule' && cidr !== undefined) {
    const policy = known.get(textOf(document, 'ip_policy_id') ?? '');
    return `${policy === undefined ? '' : `${policy}: `}${cidr} ${textOf(document, 'action') ?? ''}`.trim();
  }
  const match = textOf(document, 'match');
  if (kind === 'https_edge_route' && match !== undefined) {
    const edgeId = textOf(document, 'edge_id') ?? '';
    return `${known.get(edgeId) ?? shortId(edgeId)} ${match}`;
  }
  const type = textOf(document, 'type');
  if (kind === 'ip_restriction' && isRestrictionType(type)) {
    return restrictionName({ id, type, description: textOf(document, 'description') });
  }
  const names = ['url', 'description', 'name', 'domain', 'addr', 'address', 'subject_common_name'].map((field) =>
    textOf(document, field),
  );
  return names.find((name) => name !== undefined) ?? firstHostport(document) ?? known.get(id) ?? shortId(id);
}

type Document = Readonly<Record<string, unknown>> | null;

function textOf(document: Document, field: string): string | undefined {
  const value = document?.[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function firstHostport(document: Document): string | undefined {
  const hostports = document?.['hostports'];
  return Array.isArray(hostports) && typeof hostports[0] === 'string' ? hostports[0] : undefined;
}

/** A list of rules that took the place of another. */
function replacedRules(after: Document): string | undefined {
  const replaced = after?.['replaced'];
  if (typeof replaced !== 'object' || replaced === null) return undefined;
  // The change of a whole list has this form.
  const { added = 0, removed = 0 } = replaced as { added?: number; removed?: number };
  return `${countOf(added, 'rule', 'rules')} added, ${formatNumber(removed)} removed`;
}

function changedFields(before: Document, after: Document): readonly string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  // The time from which on a restriction only warns follows from whether it is enforced.
  names.delete('warns_since');
  return [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]));
}

const moduleNames: Readonly<Record<string, string>> = { ip_restriction: 'IP restriction' };

/** Modules that differ, in words; undefined where anything else does too, or nothing. */
function changedModules(before: Document, after: Document): string | undefined {
  const [then, now] = [modulesOf(before), modulesOf(after)];
  if (then === undefined || now === undefined) return undefined;
  if (changedFields(before, after).some((field) => field !== 'modules')) return undefined;
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const words = names.flatMap((name) => {
    const act = moduleChange(then[name], now[name]);
    return act === undefined ? [] : [`${moduleNames[name] ?? name.replaceAll('_', ' ')} ${act}`];
  });
  return words.length === 0 ? undefined : words.join(', ');
}

function modulesOf(document: Document): Readonly<Record<string, unknown>> | undefined {
  const modules = document?.['modules'];
  // Stored documents keep their modules by name.
  return typeof modules === 'object' && modules !== null ? (modules as Record<string, unknown>) : undefined;
}

function moduleChange(then: unknown, now: unknown): string | undefined {
  if (JSON.stringify(then) === JSON.stringify(now)) return undefined;
  if (then === undefined) return 'set up';
  if (now === undefined) return 'removed';
  const [was, is] = [isEnabled(then), isEnabled(now)];
  return was === is ? 'changed' : is ? 'switched on' : 'switched off';
}

function isEnabled(settings: unknown): boolean {
  return (settings as { readonly enabled?: boolean } | null)?.enabled !== false;
}

function isRestrictionType(type: string | undefined): type is RestrictionType {
  return type === 'dashboard' || type === 'api' || type === 'agent' || type === 'endpoints';
}

function listOf(fields: readonly string[]): string {
  const words = fields.map((field) => field.replaceAll('_', ' '));
  return words.length < 4 ? words.join(', ') : `${words.slice(0, 3).join(', ')} and ${words.length - 3} more`;
}

import { SelectField } from '../../components/field.tsx';
import { backendKind } from './backend.tsx';
import { basicAuthKind } from './basic-auth.tsx';
import { headersKind } from './headers.tsx';
import { ipRestrictionKind } from './ip-restriction.tsx';
import type { ModuleKind, Values } from './kind.ts';
import { mutualTlsKind } from './mutual-tls.tsx';
import { rateLimitKind } from './rate-limit.tsx';
import { linesOf, SchemaFields, SchemaSummary, settingsFrom, textsIn } from './schema-form.tsx';
import { titleOf } from './schema.ts';
import { oauthKind, oidcKind } from './sign-in.tsx';
import type { ObjectSchema } from './schema.ts';
import type { ModuleTarget } from './target.ts';
import { trafficPolicyKind } from './traffic-policy.tsx';
import { webhookVerificationKind } from './webhook-verification.tsx';

/** Modules that read badly as a generic form. All others come from their schema. */
const made: Readonly<Record<string, ModuleKind>> = {
  ip_restriction: ipRestrictionKind,
  backend: backendKind,
  basic_auth: basicAuthKind,
  mutual_tls: mutualTlsKind,
  oauth: oauthKind,
  oidc: oidcKind,
  traffic_policy: trafficPolicyKind,
  webhook_verification: webhookVerificationKind,
  request_headers: headersKind('Request headers', 'Request', 'the upstream sees the request'),
  response_headers: headersKind('Response headers', 'Response', 'the client sees the response'),
};

/** Words for modules whose form comes from the schema; one that is not here is named by its field. */
const words: Readonly<Record<string, Partial<ModuleKind>>> = {
  compression: {
    icon: 'compress',
    badge: 'Compressed',
    whenNotSet: 'Answers go out as the upstream sends them',
    Summary: () => 'Brotli, Zstandard or gzip, where the client accepts it',
  },
  circuit_breaker: {
    icon: 'pause',
    whenNotSet: 'An upstream that fails gets every request',
    Summary: ({ view }) =>
      `Opens when more than ${Math.round(Number(view['error_threshold_percentage']) * 100)} % of answers fail, for ${Number(view['tripped_duration'])} seconds`,
  },
  tls_termination: {
    icon: 'shield',
    title: 'TLS version',
    badge: 'TLS version',
    whenNotSet: 'TLS 1.2 and 1.3',
    toValues: (view) => ({ enabled: view?.enabled ?? true, min_version: view?.['min_version'] ?? '1.2' }),
    Summary: ({ view }) => (view['min_version'] === '1.3' ? 'TLS 1.3 alone' : 'TLS 1.2 and 1.3'),
    Fields: ({ edit }) => (
      <SelectField
        label="Oldest version"
        value={String(edit.values['min_version'])}
        options={[
          ['1.2', 'TLS 1.2'],
          ['1.3', 'TLS 1.3'],
        ]}
        onChange={(version) => edit.set('min_version', version)}
        hint="Clients that speak only an older one are refused in the handshake."
      />
    ),
  },
  jwt_validation: {
    icon: 'tag',
    title: 'Tokens (JWT)',
    badge: 'Tokens',
    whenNotSet: 'Requests need no token',
    Summary: ({ view }) => `Tokens of ${String(view['issuer']).replace('https://', '')}`,
  },
  redirect: {
    icon: 'right',
    badge: 'Redirect',
    whenNotSet: 'Requests go to the backend',
    Summary: ({ view }) =>
      `To ${String(view['to'])}${view['keep_path'] === true ? ' with the path of the request' : ''}, ${String(view['status_code'])}`,
  },
  path_rewrite: {
    icon: 'edit',
    badge: 'Path rewrite',
    whenNotSet: 'The upstream gets the path as it came',
    Summary: ({ view }) =>
      `${String(view['strip_prefix']) || 'Nothing'} is taken off the path${view['add_prefix'] === '' ? '' : `, and ${String(view['add_prefix'])} put before it`}`,
  },
  user_agent_filter: { badge: 'User agents', whenNotSet: 'Every program may ask' },
  websocket_tcp_converter: {
    icon: 'plug',
    title: 'WebSocket to TCP',
    badge: 'WebSocket to TCP',
    whenNotSet: 'WebSockets pass as they are',
    Summary: () => 'Takes WebSockets alone; the backend gets the bytes of their messages',
  },
};

/** Choices of a TLS edge: where TLS ends, and the oldest version where it is here. */
const endsOfTls = [
  ['upstream', 'At the upstream: passed on unread'],
  ['1.2', 'Here: TLS 1.2 and 1.3'],
  ['1.3', 'Here: TLS 1.3 alone'],
] as const;

function endOf(view: Values | null): string {
  if (view?.['terminate_at'] === 'upstream') return 'upstream';
  return view?.['min_version'] === '1.3' ? '1.3' : '1.2';
}

/** Words for modules of edges that may pass TLS on, where they differ. */
const passedWords: Readonly<Record<string, Partial<ModuleKind>>> = {
  tls_termination: {
    title: 'TLS termination',
    badge: 'TLS ends here',
    whenNotSet: 'TLS is passed on unread',
    toValues: (view) => ({ enabled: view?.enabled ?? true, ending: endOf(view) }),
    toSettings: async ({ enabled, ending }) => ({
      enabled: enabled === true,
      ...(ending === 'upstream' ? { terminate_at: 'upstream' } : { terminate_at: 'edge', min_version: ending }),
    }),
    Summary: ({ view }) => endsOfTls.find(([end]) => end === endOf(view))?.[1],
    Fields: ({ edit }) => (
      <SelectField
        label="Where TLS ends"
        value={String(edit.values['ending'])}
        options={endsOfTls}
        onChange={(ending) => edit.set('ending', ending)}
        hint="If TLS ends here, the backend gets the decrypted bytes, and visitors can be asked for a certificate."
      />
    ),
  },
};

/** A title inside of a sentence: "request headers", "IP restriction". */
export function inSentence(title: string): string {
  return /^(?:IP|TLS|WebSocket) /.test(title) ? title : title.toLowerCase().replace(/tls$/, 'TLS');
}

export function kindOf(
  name: string,
  schema: ObjectSchema,
  { passesTls, countsConnections }: Pick<ModuleTarget, 'passesTls' | 'countsConnections'> = {},
): ModuleKind {
  if (name === 'rate_limit') return rateLimitKind(countsConnections === true);
  const own = passesTls === true ? passedWords[name] : undefined;
  return made[name] ?? { ...genericKind(name, schema), ...words[name], ...own };
}

/** A line that is being typed may be empty; as an entry of a list it would mean something. */
function withoutEmptyLines({ properties }: ObjectSchema, values: Values): Values {
  const isLines = (name: string) => properties[name]?.type === 'array' && properties[name].items?.type === 'string';
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isLines(name) ? linesOf(textsIn(value)) : value]),
  );
}

function genericKind(name: string, schema: ObjectSchema): ModuleKind {
  return {
    icon: 'filter',
    title: titleOf(name),
    badge: titleOf(name),
    whenNotSet: '',
    errors: {},
    toValues: (view) => settingsFrom(schema, view),
    toSettings: (values) => Promise.resolve(withoutEmptyLines(schema, values)),
    Summary: ({ view }) => <SchemaSummary schema={schema} view={view} />,
    Fields: ({ edit }) => <SchemaFields schema={schema} edit={edit} />,
  };
}

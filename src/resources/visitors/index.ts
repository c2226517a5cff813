import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { nullable } from '../../api/body/view-fields.ts';
import { listIn, textIn, timeIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { readOperations } from '../../api/read-operations.ts';
import { backgroundTasks } from '../background-tasks.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { storedSecrets } from '../stored-secrets.ts';
import { secureUrl } from '../visitor-urls.ts';
import { readBrowserName } from './browser-name.ts';
import { VisitorKeeper } from './keeper.ts';
import { createSharedSealer, keyCompiler, keySecrets, keyTask } from './keys.ts';
import { StoredLogins } from './logins.ts';
import { keptLogins, sharedSealer, visitors } from './service.ts';
import { endedSessionCompiler, endSession, endUser } from './sessions.ts';
import { appSessions, appUsers, migrations } from './table.ts';
import type { AppSession, AppUser } from './table.ts';

const usersPath = '/app/users';
const sessionsPath = '/app/sessions';

const time = (description: string) => Type.String({ format: 'date-time', description: `${description}, RFC 3339.` });
const provider = Type.Object(
  {
    name: Type.String({ description: 'oidc, or the name of the provider.' }),
    url: Type.String({ description: 'The URL that the provider is known by.' }),
  },
  { description: 'The provider that says who it is.' },
);

const AppUserView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the user.' }),
    uri: Type.String({ description: "URI of this user's resource." }),
    identity_provider: provider,
    provider_user_id: Type.String({ description: 'The id of the user at the provider.' }),
    username: Type.String({ description: 'Always empty: the name and the address say who it is.' }),
    email: Type.String({ description: 'E-mail address; empty if the provider told none.' }),
    name: Type.String({ description: 'Name; empty if the provider told none.' }),
    created_at: time('When the user signed in for the first time'),
    last_active: time('When a session of the user was last used, to within five minutes'),
    last_login: time('When the user last signed in'),
  },
  { $id: 'AppUser' },
);

const browserFields = {
  browser_name: Type.String({
    description: 'Name of the browser; empty where `raw` does not say it.',
    examples: ['Firefox'],
  }),
  browser_version: Type.String({
    description: 'Version of the browser; empty where `raw` does not say it.',
    examples: ['131.0'],
  }),
  device_type: Type.String({ description: 'desktop, mobile or tablet; empty where `raw` does not say it.' }),
  os_name: Type.String({
    description: 'Name of the system; empty where `raw` does not say it.',
    examples: ['Windows'],
  }),
  os_version: Type.String({ description: 'Version of the system; empty where `raw` does not say it.' }),
};

const AppSessionView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the session.' }),
    uri: Type.String({ description: "URI of this session's resource." }),
    public_url: Type.String({ description: 'Where the user signed in.', examples: ['https://app.example.com'] }),
    browser_session: Type.Object(
      {
        user_agent: Type.Object(
          { raw: Type.String({ description: 'The header User-Agent of the browser.' }), ...browserFields },
          { description: 'How the browser names itself.' },
        ),
        ip_address: Type.String({ description: 'Address of the browser when the session was last written down.' }),
        location: nullable('string', 'Always null: places of addresses are not looked up.'),
      },
      { description: 'The browser that has the session.' },
    ),
    application_user: Type.Ref('Ref'),
    identity_provider: provider,
    email: Type.String({ description: 'E-mail address of the user; empty if the provider told none.' }),
    name: Type.String({ description: 'Name of the user; empty if the provider told none.' }),
    groups: Type.Array(Type.String(), { description: 'Groups of the user, as far as they are kept.' }),
    created_at: time('When the user signed in'),
    last_active: time('When the session was last used, to within five minutes'),
    expires_at: time('When the session ends if it is not used before'),
    endpoint: nullable('string', 'Always null: the sessions of endpoints are those of edges.'),
    edge: Type.Ref('Ref'),
    route: Type.Ref('Ref'),
  },
  { $id: 'AppSession' },
);

/** People who have signed in at edges, and their sessions. */
export const visitorsResource: Resource = {
  migrations,
  schemas: [AppUserView, AppSessionView],
  operations: (context) => [...userOperations(context), ...sessionOperations(context)],
  compilers: (context) => [keyCompiler(context), endedSessionCompiler],
  provide(context) {
    const { services, store } = context;
    const keeper = new VisitorKeeper(store);
    services.provide(visitors, keeper);
    const sealer = createSharedSealer(context);
    services.provide(sharedSealer, sealer);
    services.provide(keptLogins, new StoredLogins(store, sealer, keeper));
    services.add(backgroundTasks, keyTask(context));
    services.add(backgroundTasks, keeper.task());
    services.add(storedSecrets, keySecrets(context));
  },
};

function userOperations({ store, services }: ResourceContext): readonly Operation[] {
  return readOperations({
    store,
    table: appUsers,
    path: usersPath,
    noun: 'application user',
    plural: 'application users',
    listKey: 'application_users',
    name: 'ApplicationUsers',
    tag: 'Application users',
    rights: { read: 'everyone' },
    view: AppUserView,
    filterFields: {
      id: textIn('id'),
      created_at: timeIn('created_at'),
      last_active: timeIn('last_active'),
      last_login: timeIn('last_login'),
      email: textIn('email'),
      name: textIn('name'),
      provider_user_id: textIn('subject'),
      'identity_provider.name': textIn('provider', 'name'),
      'identity_provider.url': textIn('provider', 'url'),
    },
    present: ({ id, provider: identity_provider, subject, email, name, ...user }: AppUser, { uri }: Call) => ({
      id,
      uri: uri(`${usersPath}/${id}`),
      identity_provider,
      provider_user_id: subject,
      username: '',
      email,
      name,
      created_at: user.created_at,
      last_active: user.last_active,
      last_login: user.last_login,
    }),
    remove: {
      description:
        'Ends all sessions of the user, at every gateway within 250 ms, and forgets the user. A person whom the module lets in can sign in again.',
      rights: 'everyone',
      prepare: () => services.get(visitors).flush(),
      run: endUser,
    },
  });
}

function sessionOperations({ store, services, settings }: ResourceContext): readonly Operation[] {
  return readOperations({
    store,
    table: appSessions,
    path: sessionsPath,
    noun: 'application session',
    plural: 'application sessions',
    listKey: 'application_sessions',
    name: 'ApplicationSessions',
    tag: 'Application sessions',
    rights: { read: 'everyone' },
    view: AppSessionView,
    filterFields: {
      id: textIn('id'),
      created_at: timeIn('created_at'),
      last_active: timeIn('last_active'),
      expires_at: timeIn('expires_at'),
      email: textIn('email'),
      name: textIn('name'),
      groups: listIn('groups'),
      'application_user.id': textIn('user_id'),
      'edge.id': textIn('edge_id'),
      'route.id': textIn('route_id'),
      'browser_session.ip_address': textIn('source'),
    },
    isShown: ({ expires_at }: AppSession) => Date.parse(expires_at) > Date.now(),
    present: (session: AppSession, call: Call) => presentSession(session, settings, call),
    remove: {
      description:
        'Ends the session, at every gateway within 250 ms. A person whom the module lets in can sign in again.',
      rights: 'everyone',
      prepare: () => services.get(visitors).flush(),
      run: endSession,
    },
  });
}

function presentSession(session: AppSession, settings: ResourceContext['settings'], { uri }: Call) {
  const { id, user_id, edge_id, route_id } = session;
  const edge = `/edges/https/${edge_id}`;
  return {
    id,
    uri: uri(`${sessionsPath}/${id}`),
    public_url: secureUrl('https', session.host, settings),
    browser_session: {
      user_agent: { raw: session.user_agent, ...readBrowserName(session.user_agent) },
      ip_address: session.source,
      location: null,
    },
    application_user: { id: user_id, uri: uri(`${usersPath}/${user_id}`) },
    identity_provider: session.provider,
    email: session.email,
    name: session.name,
    groups: session.groups,
    created_at: session.created_at,
    last_active: session.last_active,
    expires_at: session.expires_at,
    endpoint: null,
    edge: { id: edge_id, uri: uri(edge) },
    route: { id: route_id, uri: uri(`${edge}/routes/${route_id}`) },
  };
}

import type { ComponentType } from 'react';

import type { ListId } from '../../../client/src/index.ts';
import { rowsPerCall } from '../api/page-size.ts';
import type { IconName } from '../components/icon.tsx';
import type { PageProps } from '../components/page.tsx';
import { momentIn } from '../lib/moment.ts';

/** One page of the dashboard: its line in the side bar, its part of the URL, its code. */
export interface PageEntry {
  /** Below /dashboard/. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly group: 'top' | 'Access' | 'Edges' | 'Agents' | 'Record';
  /** Opens the page after `g`. */
  readonly shortcut?: string;
  /** The list that is counted beside the title, and searched by `/`. */
  readonly list?: ListId;
  /** Where that list is read; the table of operations is too large for the first script. */
  readonly listPath?: string;
  /** Ids that the search takes here, by their beginning. */
  readonly idPrefixes?: readonly string[];
  /** The page lays out its own `.page`, because it opens rows in a side sheet (`Split`). */
  readonly isWide?: boolean;
  /** Loaded when the page is opened for the first time. */
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>;
}

/** Every page, in the order of the side bar. */
export const pages: readonly PageEntry[] = [
  {
    path: '',
    title: 'Overview',
    icon: 'overview',
    group: 'top',
    shortcut: 'o',
    load: () => import('../pages/overview/page.tsx'),
  },
  {
    path: 'who-gets-in',
    title: 'Who gets in',
    icon: 'door',
    group: 'top',
    shortcut: 'w',
    load: () => import('../pages/who-gets-in/page.tsx'),
  },
  {
    path: 'traffic',
    title: 'Live traffic',
    icon: 'traffic',
    group: 'top',
    shortcut: 't',
    isWide: true,
    load: () => import('../pages/traffic/page.tsx'),
  },
  {
    path: 'requests',
    title: 'Past requests',
    icon: 'past',
    group: 'top',
    shortcut: 'h',
    idPrefixes: ['op_', 'dec_'],
    load: () => import('../pages/requests/page.tsx'),
  },
  {
    path: 'inspect',
    title: 'Inspect requests',
    icon: 'search',
    group: 'top',
    shortcut: 'i',
    idPrefixes: ['insp_'],
    isWide: true,
    load: () => import('../pages/inspect/page.tsx'),
  },

  {
    path: 'ip-restrictions',
    title: 'IP restrictions',
    icon: 'shield',
    group: 'Access',
    shortcut: 'r',
    list: 'IpRestrictionsList',
    listPath: '/ip_restrictions',
    idPrefixes: ['ipx_'],
    load: () => import('../pages/ip-restrictions/page.tsx'),
  },
  {
    path: 'ip-policies',
    title: 'IP policies',
    icon: 'list',
    group: 'Access',
    shortcut: 'p',
    list: 'IpPoliciesList',
    listPath: '/ip_policies',
    idPrefixes: ['ipp_'],
    load: () => import('../pages/ip-policies/page.tsx'),
  },
  {
    path: 'vaults',
    title: 'Vaults',
    icon: 'vault',
    group: 'Access',
    shortcut: 's',
    list: 'VaultsList',
    listPath: '/vaults',
    idPrefixes: ['vault_', 'secret_'],
    load: () => import('../pages/vaults/page.tsx'),
  },
  {
    path: 'users',
    title: 'Users',
    icon: 'users',
    group: 'Access',
    shortcut: 'u',
    list: 'UsersList',
    listPath: '/users',
    idPrefixes: ['usr_'],
    load: () => import('../pages/users/page.tsx'),
  },
  {
    path: 'api-keys',
    title: 'API keys',
    icon: 'key',
    group: 'Access',
    shortcut: 'k',
    list: 'ApiKeysList',
    listPath: '/api_keys',
    idPrefixes: ['ak_'],
    load: () => import('../pages/api-keys/page.tsx'),
  },
  {
    path: 'bot-users',
    title: 'Bot users',
    icon: 'bot',
    group: 'Access',
    shortcut: 'b',
    list: 'BotUsersList',
    listPath: '/bot_users',
    idPrefixes: ['bot_'],
    load: () => import('../pages/bot-users/page.tsx'),
  },
  {
    path: 'visitors',
    title: 'Visitors',
    icon: 'users',
    group: 'Access',
    shortcut: 'v',
    list: 'ApplicationSessionsList',
    listPath: '/app/sessions',
    load: () => import('../pages/visitors/page.tsx'),
  },

  {
    path: 'https-edges',
    title: 'HTTPS edges',
    icon: 'globe',
    group: 'Edges',
    shortcut: 'e',
    list: 'HttpsEdgesList',
    listPath: '/edges/https',
    idPrefixes: ['edghts_'],
    load: () => import('../pages/https-edges/page.tsx'),
  },
  {
    path: 'tcp-edges',
    title: 'TCP edges',
    icon: 'plug',
    group: 'Edges',
    list: 'TcpEdgesList',
    listPath: '/edges/tcp',
    idPrefixes: ['edgtcp_'],
    load: () => import('../pages/tcp-edges/page.tsx'),
  },
  {
    path: 'tls-edges',
    title: 'TLS edges',
    icon: 'shield',
    group: 'Edges',
    list: 'TlsEdgesList',
    listPath: '/edges/tls',
    idPrefixes: ['edgtls_'],
    load: () => import('../pages/tls-edges/page.tsx'),
  },
  {
    path: 'endpoints',
    title: 'Endpoints',
    icon: 'link',
    group: 'Edges',
    shortcut: 'n',
    list: 'EndpointsList',
    listPath: '/endpoints',
    idPrefixes: ['ep_'],
    load: () => import('../pages/endpoints/page.tsx'),
  },
  {
    path: 'backends',
    title: 'Backends',
    icon: 'server',
    group: 'Edges',
    list: 'StaticBackendsList',
    listPath: '/backends/static',
    idPrefixes: ['bkdsc_', 'bkdtg_'],
    load: () => import('../pages/backends/page.tsx'),
  },
  {
    path: 'certificates',
    title: 'Certificates',
    icon: 'certificate',
    group: 'Edges',
    list: 'TlsCertificatesList',
    listPath: '/tls_certificates',
    idPrefixes: ['cert_'],
    load: () => import('../pages/certificates/page.tsx'),
  },
  {
    path: 'reserved-names',
    title: 'Reserved names',
    icon: 'tag',
    group: 'Edges',
    list: 'ReservedDomainsList',
    listPath: '/reserved_domains',
    idPrefixes: ['rd_', 'ra_'],
    load: () => import('../pages/reserved-names/page.tsx'),
  },

  {
    path: 'agents',
    title: 'Agents',
    icon: 'agent',
    group: 'Agents',
    shortcut: 'a',
    list: 'TunnelSessionsList',
    listPath: '/tunnel_sessions',
    idPrefixes: ['ts_', 'tn_', 'cr_'],
    load: () => import('../pages/agents/page.tsx'),
  },

  {
    path: 'notifications',
    title: 'Notifications',
    icon: 'bell',
    group: 'Record',
    shortcut: 'm',
    load: () => import('../pages/notifications/page.tsx'),
  },
  {
    path: 'changes',
    title: 'Change log',
    icon: 'clock',
    group: 'Record',
    shortcut: 'c',
    isWide: true,
    load: () => import('../pages/changes/page.tsx'),
  },
];

/** Stands in place of every page while the URL names an earlier moment. */
export const momentPage: PageEntry = {
  path: 'moment',
  title: 'Change log',
  icon: 'clock',
  group: 'Record',
  isWide: true,
  load: () => import('../pages/moment/page.tsx'),
};

export const groups = ['top', 'Access', 'Edges', 'Agents', 'Record'] as const;

const loaded = new Map<string, ComponentType<PageProps>>();

/** Loads the code of a page. A page that is loaded is shown at once, without a moment of skeletons. */
export async function loadPage({ path, load }: PageEntry): Promise<ComponentType<PageProps>> {
  const { Page } = await load();
  loaded.set(path, Page);
  return Page;
}

export function loadedPage({ path }: PageEntry): ComponentType<PageProps> | undefined {
  return loaded.get(path);
}

/** The page that a URL names. */
export function pageOfUrl({ pathname, search }: Pick<Location, 'pathname' | 'search'>): PageEntry | undefined {
  if (momentIn(search) !== undefined) return momentPage;
  const [, , path = ''] = pathname.split('/');
  return pages.find((page) => page.path === path);
}

/** The call whose answer the first view waits for. A filter may need other rows, and a detail page reads one thing only. */
export function firstCallOf(url: Pick<Location, 'pathname' | 'search'>): string | undefined {
  const path = pageOfUrl(url)?.listPath;
  const isList = url.search === '' && url.pathname.split('/').length === 3;
  return path === undefined || !isList ? undefined : `${path}?limit=${rowsPerCall}`;
}

/** A resource of an earlier moment. */
export interface PastEntry {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Kind {
  /** One, in words. */
  readonly noun: string;
  /** The page that shows them. */
  readonly page: string;
  /** Names of one scope are named alike by others: an edge names a backend, whichever kind it is of. */
  readonly scope: 'ip_policies' | 'backends' | 'certificate_authorities' | 'own';
}

/** Every kind of entry of a configuration. */
const kinds: Readonly<Record<string, Kind>> = {
  ip_restrictions: { noun: 'IP restriction', page: 'ip-restrictions', scope: 'own' },
  ip_policies: { noun: 'IP policy', page: 'ip-policies', scope: 'ip_policies' },
  vaults: { noun: 'vault', page: 'vaults', scope: 'own' },
  https_edges: { noun: 'HTTPS edge', page: 'https-edges', scope: 'own' },
  tcp_edges: { noun: 'TCP edge', page: 'tcp-edges', scope: 'own' },
  tls_edges: { noun: 'TLS edge', page: 'tls-edges', scope: 'own' },
  cloud_endpoints: { noun: 'cloud endpoint', page: 'endpoints', scope: 'own' },
  static_backends: { noun: 'backend', page: 'backends', scope: 'backends' },
  tunnel_group_backends: { noun: 'tunnel group backend', page: 'backends', scope: 'backends' },
  weighted_backends: { noun: 'weighted backend', page: 'backends', scope: 'backends' },
  failover_backends: { noun: 'failover backend', page: 'backends', scope: 'backends' },
  http_response_backends: { noun: 'fixed answer', page: 'backends', scope: 'backends' },
  certificate_authorities: { noun: 'authority of visitors', page: 'certificates', scope: 'certificate_authorities' },
  reserved_domains: { noun: 'reserved domain', page: 'reserved-names', scope: 'own' },
  reserved_addrs: { noun: 'reserved address', page: 'reserved-names', scope: 'own' },
};

export function kindOf(kind: string): Kind {
  return kinds[kind] ?? { noun: kind.replaceAll('_', ' '), page: 'changes', scope: 'own' };
}

export function isShownOn(page: string): boolean {
  return Object.values(kinds).some((kind) => kind.page === page);
}

/** Parts of a page that the change log does not know. */
export const untold: Readonly<Record<string, string>> = {
  certificates: 'Certificates are not part of what is remembered. Authorities of visitors are.',
  endpoints: 'Endpoints of agents come and go with their agents, and are not remembered. Cloud endpoints are.',
  vaults: 'Secrets of vaults are not remembered.',
};

/** Others that the fields of an entry name, wherever they do. */
export function namesIn(fields: unknown): readonly (readonly [scope: Kind['scope'], name: string])[] {
  if (typeof fields !== 'object' || fields === null) return [];
  return Object.entries(fields).flatMap(([key, value]) => {
    const names = typeof value === 'string' ? [value] : textsOf(value);
    if (key === 'ip_policies' || key === 'certificate_authorities') return names.map((each) => [key, each] as const);
    if (key === 'backends' || (key === 'backend' && names.length > 0))
      return names.map((each) => ['backends', each] as const);
    // Rules are very many, and name nothing.
    return key === 'rules' ? [] : namesIn(value);
  });
}

/** Members of a list, or keys of a map with weights. */
function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((each) => typeof each === 'string');
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).every((each) => typeof each === 'number') ? Object.keys(value) : [];
}

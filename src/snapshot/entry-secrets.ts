import type { HttpsEdgeEntry, SnapshotEntry } from './contract.ts';

/** Seals or opens a secret; the context binds it to its place. */
export type ChangeSecret = (text: string, context: string) => string;

/** Changes private keys, the secrets of clients and those in vaults, the only secrets in a snapshot. */
export function mapSecrets(entry: SnapshotEntry, change: ChangeSecret): SnapshotEntry {
  if (entry.kind === 'certificate') return { ...entry, privateKeyPem: change(entry.privateKeyPem, entry.id) };
  if (entry.kind === 'visitor_key') {
    const { id, secret, privateJwk } = entry;
    return {
      ...entry,
      secret: change(secret, `visitor_key ${id}`),
      privateJwk: change(privateJwk, `visitor_jwk ${id}`),
    };
  }
  if (entry.kind === 'vault_secret') return { ...entry, value: change(entry.value, `vault_secret ${entry.id}`) };
  return entry.kind === 'https_edge' ? mapModuleSecrets(entry, change) : entry;
}

/** Fields of modules with a secret that the gateway gets open: of clients of identity providers, and of senders of webhooks. */
const secretFields = ['client_secret', 'secret'] as const;

function mapModuleSecrets(entry: HttpsEdgeEntry, change: ChangeSecret): HttpsEdgeEntry {
  if (!entry.routes.some(({ modules }) => Object.values(modules).some((each) => secretIn(each) !== undefined)))
    return entry;
  const routes = entry.routes.map((route) => ({
    ...route,
    modules: Object.fromEntries(
      Object.entries(route.modules).map(([name, settings]) => {
        const secret = secretIn(settings);
        if (secret === undefined) return [name, settings];
        return [name, { ...Object(settings), [secret.field]: change(secret.text, `${route.id} ${name}`) }];
      }),
    ),
  }));
  return { ...entry, routes };
}

function secretIn(settings: unknown): { readonly field: string; readonly text: string } | undefined {
  if (typeof settings !== 'object' || settings === null) return undefined;
  for (const field of secretFields) {
    const text: unknown = Reflect.get(settings, field);
    if (typeof text === 'string') return { field, text };
  }
  return undefined;
}

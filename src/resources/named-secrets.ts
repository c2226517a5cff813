import { vaultNameUnknown } from '../errors/shared.ts';
import { quote, UserError } from '../errors/user-error.ts';
import type { NamedSecret } from '../modules/module.ts';
import type { Queries } from '../store/database.ts';
import type { Services } from './services.ts';
import { vaultNames } from './vaults/service.ts';

/** Throws unless the account has all of these secrets, but for those that were named before. */
export async function checkSecrets(
  services: Services,
  queries: Queries,
  accountId: string,
  named: readonly NamedSecret[],
  before: readonly NamedSecret[] = [],
): Promise<void> {
  const known = new Set(before.map(keyOf));
  for (const secret of named) {
    const key = keyOf(secret);
    if (known.has(key)) continue;
    known.add(key);
    const { vault, name } = secret;
    const found = await services.get(vaultNames).find(queries, accountId, vault, name);
    if (found === 'no vault') throw new UserError(vaultNameUnknown, { what: `vault named ${quote(vault)}` });
    if (found === 'no secret')
      throw new UserError(vaultNameUnknown, { what: `secret named ${quote(name)} in the vault ${quote(vault)}` });
  }
}

function keyOf({ vault, name }: NamedSecret): string {
  return JSON.stringify([vault, name]);
}

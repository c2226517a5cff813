import { UserError } from '../errors/user-error.ts';
import { modulesFor, prepareModules, referencedIds, secretsNamed } from '../modules/index.ts';
import type { ModuleTarget, Settings } from '../modules/module.ts';
import { ipPolicyIdsIn, preparePolicy, readStoredPolicy } from '../modules/traffic-policy/service.ts';
import { claimOfId } from './configuration-kind.ts';

/** How the name of a vault stands among the claims of a configuration. */
export function claimOfVault(vault: string): string {
  return `vault ${vault}`;
}

/** The vaults and IP policies that a traffic policy names, as claims. One that cannot be read is refused when it is written. */
export async function dependenciesOfPolicy(text: string): Promise<readonly string[]> {
  if (!mayNameOthers(text)) return [];
  const prepared = new Set([await preparePolicy(text)]);
  const claims = unlessRefused(() => {
    const policy = readStoredPolicy(text);
    return toClaims(policy.reads.secrets, ipPolicyIdsIn(policy));
  });
  prepared.clear();
  return claims;
}

/** Finds the same for modules of an edge or route, as entries have them. */
export async function dependenciesOfModules(
  target: ModuleTarget,
  fields: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const naming = modulesFor(target).filter(
    ({ name, secretsIn }) => secretsIn !== undefined && fields[name] !== undefined && mayNameOthers(fields[name]),
  );
  if (naming.length === 0) return [];
  const prepared = new Set([await prepareModules(fields, target)]);
  const claims = unlessRefused(() => {
    const settings: Readonly<Record<string, Settings>> = Object.fromEntries(
      naming.map((module) => [module.name, module.accept(fields[module.name] as never)]),
    );
    return toClaims(secretsNamed(settings, target), referencedIds(settings, 'ip_policy'));
  });
  prepared.clear();
  return claims;
}

function toClaims(secrets: Iterable<{ readonly vault: string }>, ipPolicyIds: Iterable<string>): readonly string[] {
  return [...Array.from(secrets, ({ vault }) => claimOfVault(vault)), ...Array.from(ipPolicyIds, claimOfId)];
}

/** False for settings that name neither a secret nor an IP policy, as far as a look at their text tells. */
function mayNameOthers(settings: unknown): boolean {
  const text = JSON.stringify(settings);
  // Any character of a text may be written behind a backslash.
  return ['secrets', 'ipp_', '\\\\'].some((part) => text.includes(part));
}

function unlessRefused(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

import { backend } from './backend/index.ts';
import { ipRestriction } from './ip-restriction/index.ts';
import type { EdgeModule, ModuleAction, ModuleTarget, ReferenceKind, Settings } from './module.ts';
import { requestHeaders } from './request-headers/index.ts';
import { responseHeaders } from './response-headers/index.ts';

/** Every module, in running order. A new module is one folder and one line here. */
export const modules: readonly EdgeModule[] = [
  widen(ipRestriction),
  widen(backend),
  widen(requestHeaders),
  widen(responseHeaders),
];

const moduleByName: ReadonlyMap<string, EdgeModule> = new Map(modules.map((module) => [module.name, module]));

export function modulesFor(target: ModuleTarget): readonly EdgeModule[] {
  return modules.filter((module) => module.targets.includes(target));
}

/**
 * What the stored settings of one edge or route do to traffic, in running order. Throws for a name that is not known:
 * a check must never be skipped because this program is older than the settings.
 */
export function buildModules(settingsByName: Readonly<Record<string, unknown>>): readonly ModuleAction[] {
  for (const name of Object.keys(settingsByName)) {
    if (!moduleByName.has(name)) throw new Error(`unknown module ${JSON.stringify(name)}`);
  }
  return modules.flatMap((module) => {
    const settings = settingsByName[module.name];
    if (settings === undefined || settings === null) return [];
    // Stored settings were accepted by this very module before they were written.
    const accepted = settings as Settings;
    return accepted.enabled ? [module.build(accepted)] : [];
  });
}

/** Ids of one kind that the stored settings of an edge or route name, also in modules that are switched off. */
export function referencedIds(
  settingsByName: Readonly<Record<string, unknown>>,
  kind: ReferenceKind,
): ReadonlySet<string> {
  const ids = modules.flatMap(({ name, references = [] }) => {
    const settings = settingsByName[name];
    if (settings === undefined || settings === null) return [];
    // Stored settings were accepted by this very module before they were written.
    return references.flatMap((reference) => (reference.kind === kind ? reference.ids(settings as Settings) : []));
  });
  return new Set(ids);
}

/** Each module takes only what its own `input` schema and `accept` let through; the list forgets that type. */
function widen<Input, Stored extends Settings>(module: EdgeModule<Input, Stored>): EdgeModule {
  return module;
}

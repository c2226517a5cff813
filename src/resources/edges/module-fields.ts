import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import type { Call } from '../../api/call.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { Sealer } from '../../lib/sealed-secret.ts';
import {
  changesMemory,
  checkTogether,
  checkWritten,
  memoryOf,
  modulesFor,
  prepareModules,
  referencedIds,
  secretsNamed,
} from '../../modules/index.ts';
import type { EdgeModule, ModuleTarget, Ref, ReferenceKind, Settings } from '../../modules/module.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Stored } from '../../store/table.ts';
import { checkSecrets } from '../named-secrets.ts';
import { countPolicies } from '../policy-memory.ts';
import type { PolicyTable } from '../policy-memory.ts';
import type { Referables } from '../references.ts';
import type { ResourceContext } from '../resource.ts';

/** Settings by module name; a module that is not set has no entry. */
export type StoredModules = Readonly<Record<string, Settings>>;

/** An edge or a route. */
export interface HasModules extends Stored {
  readonly modules: StoredModules;
}

/** The modules that one kind of edge or route takes, as they stand inside its bodies and answers. */
export class ModuleFields {
  /** Fields of a create or update body. Typed as nothing: modules are read by name, from the list of them. */
  readonly inputs: object;
  /** Fields of an answer; every one is there, null when unset. */
  readonly views: object;
  readonly errors: readonly ErrorDefinition[];
  /** Modules of the public service that are shown as null, and cannot be set. */
  readonly notOffered: readonly string[];
  readonly #target: ModuleTarget;
  readonly #modules: readonly EdgeModule[];
  readonly #names: readonly string[];

  /** `shownNames`: keys in the order of the answer, also of modules that are not offered and so always null. */
  constructor(target: ModuleTarget, shownNames: readonly string[]) {
    this.#target = target;
    this.#modules = modulesFor(target);
    this.errors = this.#modules.flatMap(({ errors }) => errors);
    const byName = new Map(this.#modules.map((module) => [module.name, module]));
    this.#names = [...new Set([...shownNames, ...byName.keys()])];
    this.notOffered = shownNames.filter((name) => !byName.has(name));
    this.inputs = Object.fromEntries(
      this.#modules.map(({ name, input }) => [name, Type.Optional(Type.Ref(schemaId(input)))]),
    );
    this.views = Object.fromEntries(this.#names.map((name) => [name, viewOf(byName.get(name))]));
  }

  /** The settings in a body that has passed its schema; a module that it does not mention is not in the answer. */
  accept(body: object, referables: Referables): StoredModules {
    const given = new Map(Object.entries(body));
    const mentioned = this.#modules.filter(({ name }) => given.has(name));
    return Object.fromEntries(
      mentioned.map((module) => [module.name, acceptModule(module, given.get(module.name), referables, this.#target)]),
    );
  }

  warnings(modules: StoredModules): readonly string[] {
    return this.#modules.flatMap((module) => {
      const settings = modules[module.name];
      return settings === undefined ? [] : warningsOf(module, settings);
    });
  }

  present(modules: StoredModules, referables: Referables, call: Call): object {
    const shown = new Map(
      this.#modules.map((module) => [module.name, presentModule(module, modules[module.name], referables, call)]),
    );
    return Object.fromEntries(this.#names.map((name) => [name, shown.get(name) ?? null]));
  }
}

export function warningsOf(module: EdgeModule, settings: Settings): readonly string[] {
  return module.warnings?.(settings) ?? [];
}

export function acceptModule(
  module: EdgeModule,
  input: unknown,
  referables: Referables,
  target: ModuleTarget,
): Settings {
  // The body has passed the module's own schema, which is what `accept` wants.
  const settings = module.accept(input as never);
  module.checkTarget?.(settings, target);
  for (const reference of module.references ?? []) {
    referables.check(reference.kind, reference.field, reference.ids(settings), reference.wrongKind);
  }
  return settings;
}

/** The settings, with the secrets of what was set before in the places that were left out, as they are stored. */
export function keepSecrets(
  target: ModuleTarget,
  settings: StoredModules,
  previous: StoredModules,
  sealer: Sealer,
): StoredModules {
  const kept = modulesFor(target).flatMap((module) => {
    const { name, secrets } = module;
    const given = settings[name];
    if (secrets === undefined || given === undefined || given === previous[name]) return [];
    return [[name, keepSecretsOf(module, given, previous[name], sealer)] as const];
  });
  return kept.length === 0 ? settings : { ...settings, ...Object.fromEntries(kept) };
}

export function keepSecretsOf(
  { secrets }: EdgeModule,
  settings: Settings,
  previous: Settings | undefined,
  sealer: Sealer,
): Settings {
  if (secrets === undefined) return settings;
  const kept = secrets.keep(settings, previous);
  return secrets.seal?.(kept, (plain, context) => sealer.seal(plain, context)) ?? kept;
}

export function presentModule(
  module: EdgeModule,
  settings: Settings | undefined,
  referables: Referables,
  { uri }: Call,
): unknown {
  if (settings === undefined) return null;
  return module.present(settings, (kind, id): Ref => ({ id, uri: uri(referables.pathOf(kind, id)) }));
}

/**
 * Checks that the modules go together and that the resources and secrets which they name exist, and records that these are in use. To be called after the edge
 * or route was written, and only if it was.
 */
export async function syncReferences(
  transaction: Transaction,
  { referables, services }: Pick<ResourceContext, 'referables' | 'services'>,
  target: ModuleTarget,
  owner: HasModules,
  previous: StoredModules = {},
): Promise<void> {
  checkTogether(owner.modules, target);
  const prepared = new Set([await prepareModules(owner.modules, target), await prepareModules(previous, target)]);
  checkWritten(owner.modules, previous, target);
  if (changesMemory(previous, owner.modules, target))
    await countPolicies(transaction, tableOf(target), owner, memoryOf(owner.modules, target));
  const [named, before] = [secretsNamed(owner.modules, target), secretsNamed(previous, target)];
  await checkSecrets(services, transaction, owner.account_id, named, before);
  const kinds = new Set(modulesFor(target).flatMap(({ references = [] }) => references.map(({ kind }) => kind)));
  for (const kind of kinds) {
    const idsBefore = referencedIds(previous, kind);
    const ids = referencedIds(owner.modules, kind);
    if (idsBefore.size === ids.size && ids.isSubsetOf(idsBefore)) continue;
    // A resource that was named before cannot have been deleted meanwhile.
    for (const id of ids.difference(idsBefore)) {
      if (!(await referables.exists(transaction, kind, owner.account_id, id)))
        throw missingReference(target, owner.modules, kind, id);
    }
    await referables.set(transaction, kind, owner.id, [...ids], { isNew: idsBefore.size === 0 });
  }
  prepared.clear();
}

/** The table of those that may have traffic policies. */
function tableOf(target: ModuleTarget): PolicyTable {
  switch (target) {
    case 'tcp_edge':
      return 'tcp_edges';
    case 'tls_edge':
      return 'tls_edges';
    case 'https_route':
      return 'https_edge_routes';
    default:
      throw new Error(`no table of ${target} has traffic policies`);
  }
}

/** The error of the module that names it. */
function missingReference(target: ModuleTarget, stored: StoredModules, kind: ReferenceKind, id: string): Error {
  for (const { name, references = [] } of modulesFor(target)) {
    const settings = stored[name];
    if (settings === undefined) continue;
    const reference = references.find((each) => each.kind === kind && each.ids(settings).includes(id));
    if (reference !== undefined) return reference.missing(id);
  }
  return new Error(`no module names ${id}`);
}

function viewOf(module: EdgeModule | undefined): TSchema {
  if (module === undefined) return Type.Null({ description: 'Not offered; always null.' });
  const { $id: _, ...view }: { readonly $id?: unknown } = module.view;
  // Not a union with a reference to the module's view: that serializes three times slower.
  const description = `${module.title} module; null when it is not set.`;
  return Type.Unsafe<unknown>({ ...view, type: ['object', 'null'], description });
}

function schemaId(schema: TSchema): string {
  return '$id' in schema ? String(schema.$id) : '';
}

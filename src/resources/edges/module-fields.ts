import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import type { Call } from '../../api/call.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { modulesFor, referencedIds } from '../../modules/index.ts';
import type { EdgeModule, ModuleTarget, Ref, ReferenceKind, Settings } from '../../modules/module.ts';
import type { Transaction } from '../../store/group-commit.ts';
import type { Stored } from '../../store/table.ts';
import { checkIds } from '../references.ts';
import type { Offers, Referable } from '../resource.ts';

/** Settings by module name; a module that is not set has no entry. */
export type StoredModules = Readonly<Record<string, Settings>>;

/** An edge or a route. */
export interface HasModules extends Stored {
  readonly modules: StoredModules;
}

/** The modules that one kind of holder takes, as they stand inside its bodies and answers. */
export class ModuleFields {
  /** Fields of a create or update body. Typed as nothing: modules are read by name, from the list of them. */
  readonly inputs: object;
  /** Fields of an answer; every one is there, null when unset. */
  readonly views: object;
  readonly errors: readonly ErrorDefinition[];
  readonly #modules: readonly EdgeModule[];
  readonly #names: readonly string[];

  /** `shownNames`: keys in the order of the answer, also of modules that are not offered and so always null. */
  constructor(target: ModuleTarget, shownNames: readonly string[]) {
    this.#modules = modulesFor(target);
    this.errors = this.#modules.flatMap(({ errors }) => errors);
    const byName = new Map(this.#modules.map((module) => [module.name, module]));
    this.#names = [...new Set([...shownNames, ...byName.keys()])];
    this.inputs = Object.fromEntries(
      this.#modules.map(({ name, input }) => [name, Type.Optional(Type.Ref(schemaId(input)))]),
    );
    this.views = Object.fromEntries(this.#names.map((name) => [name, viewOf(byName.get(name))]));
  }

  /** What a body that has passed its schema says of modules; one that it does not mention is not in the answer. */
  accept(body: object): StoredModules {
    const given = new Map(Object.entries(body));
    const mentioned = this.#modules.filter(({ name }) => given.has(name));
    return Object.fromEntries(mentioned.map((module) => [module.name, acceptModule(module, given.get(module.name))]));
  }

  present(modules: StoredModules, offers: Offers, call: Call): object {
    const shown = new Map(
      this.#modules.map((module) => [module.name, presentModule(module, modules[module.name], offers, call)]),
    );
    return Object.fromEntries(this.#names.map((name) => [name, shown.get(name) ?? null]));
  }
}

export function acceptModule(module: EdgeModule, input: unknown): Settings {
  // The body has passed the module's own schema, which is what `accept` wants.
  const settings = module.accept(input as never);
  for (const reference of module.references ?? []) {
    checkIds(reference.ids(settings), prefixes[reference.kind], reference.field, reference.wrongKind);
  }
  return settings;
}

export function presentModule(
  module: EdgeModule,
  settings: Settings | undefined,
  offers: Offers,
  { uri }: Call,
): unknown {
  if (settings === undefined) return null;
  const referables = referablesOf(offers);
  const ref = (kind: ReferenceKind, id: string): Ref => ({ id, uri: uri(`${referables[kind].path}/${id}`) });
  return module.present(settings, ref);
}

/**
 * Checks that what the holder's modules name exists, and writes down that it is in use. To be called after the holder
 * was written, and only if it was.
 */
export async function syncReferences(
  transaction: Transaction,
  offers: Offers,
  target: ModuleTarget,
  holder: HasModules,
  previous: StoredModules = {},
): Promise<void> {
  const referables = referablesOf(offers);
  for (const kind of referenceKinds(target)) {
    const before = referencedIds(previous, kind);
    const now = referencedIds(holder.modules, kind);
    if (before.size === now.size && now.isSubsetOf(before)) continue;
    // A resource that was named before cannot have been deleted meanwhile.
    for (const id of now.difference(before)) {
      if (await referables[kind].exists(transaction, holder.account_id, id)) continue;
      throw missingReference(target, kind, id);
    }
    await referables[kind].setReferences(transaction, holder.id, [...now]);
  }
}

const prefixes: Readonly<Record<ReferenceKind, string>> = { ip_policy: 'ipp', backend: 'bkdsc' };

function referenceKinds(target: ModuleTarget): ReadonlySet<ReferenceKind> {
  return new Set(modulesFor(target).flatMap(({ references = [] }) => references.map(({ kind }) => kind)));
}

function missingReference(target: ModuleTarget, kind: ReferenceKind, id: string): Error {
  const references = modulesFor(target).flatMap((module) => module.references ?? []);
  return references.find((reference) => reference.kind === kind)?.missing(id) ?? new Error(`no module names a ${kind}`);
}

function referablesOf({ ipPolicies, staticBackends }: Offers): Readonly<Record<ReferenceKind, Referable>> {
  return { ip_policy: ipPolicies, backend: staticBackends };
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

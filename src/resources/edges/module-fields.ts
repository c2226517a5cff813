import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import type { Call } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { ErrorCode } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { modulesFor } from '../../modules/index.ts';
import type { EdgeModule, ModuleTarget, Ref, References, Settings } from '../../modules/module.ts';
import type { Transaction } from '../../store/group-commit.ts';
import type { Stored } from '../../store/table.ts';
import { checkPolicyIds } from '../id-list.ts';
import type { Offers, Referable } from '../resource.ts';

/** Settings by module name; a module that is not set has no entry. */
export type StoredModules = Readonly<Record<string, Settings>>;

/** An edge or a route. */
export interface HasModules extends Stored {
  readonly modules: StoredModules;
}

/** By field of a module's settings: the codes it can meet. */
const fieldErrors: Readonly<Record<string, readonly ErrorCode[]>> = {
  ip_policy_ids: [229, 7007, 7013, 7025, 20009],
  backend_id: [242, 6501, 20018],
  add: [7015, 7023, 7024, 7069, 7105, 7106, 20017],
  remove: [7015, 7023, 7069, 7105, 7164, 20017],
};

/** Codes that a module's settings can meet, whether they come alone or inside an edge or route. */
export function moduleErrors({ input }: EdgeModule): readonly ErrorCode[] {
  const fields = 'properties' in input ? Object.keys(Object(input.properties)) : [];
  return fields.flatMap((field) => fieldErrors[field] ?? []);
}

/** The modules that one kind of holder takes, as they stand inside its bodies and answers. */
export class ModuleFields {
  /** Fields of a create or update body. Typed as nothing: modules are read by name, from the list of them. */
  readonly inputs: object;
  /** Fields of an answer; every one is there, null when unset. */
  readonly views: object;
  readonly errors: readonly ErrorCode[];
  readonly #modules: readonly EdgeModule[];
  readonly #names: readonly string[];

  /** `shownNames`: keys in the order of the answer, also of modules that are not offered and so always null. */
  constructor(target: ModuleTarget, shownNames: readonly string[]) {
    this.#modules = modulesFor(target);
    this.errors = this.#modules.flatMap(moduleErrors);
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
  const { ip_policy, static_backend } = module.references(settings);
  checkPolicyIds(ip_policy);
  for (const id of static_backend) {
    if (!hasPrefix(id, 'bkdsc')) throw new UserError(242, { field: 'backend_id', id: quote(id) });
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
  const ref = (kind: keyof References, id: string): Ref => ({ id, uri: uri(`${referables[kind].path}/${id}`) });
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
  for (const kind of ['ip_policy', 'static_backend'] as const) {
    const before = referencesOf(target, previous, kind);
    const now = referencesOf(target, holder.modules, kind);
    if (before.size === now.size && now.isSubsetOf(before)) continue;
    // What was named before cannot have been deleted meanwhile.
    for (const id of now.difference(before)) {
      const exists = await referables[kind].exists(transaction, holder.account_id, id);
      if (!exists) throw new UserError(kind === 'ip_policy' ? 7007 : 6501, { id: quote(id) });
    }
    await referables[kind].setReferences(transaction, holder.id, [...now]);
  }
}

function referencesOf(target: ModuleTarget, modules: StoredModules, kind: keyof References): Set<string> {
  const ids = modulesFor(target).flatMap((module) => {
    const settings = modules[module.name];
    return settings === undefined ? [] : module.references(settings)[kind];
  });
  return new Set(ids);
}

function referablesOf({ ipPolicies, staticBackends }: Offers): Readonly<Record<keyof References, Referable>> {
  return { ip_policy: ipPolicies, static_backend: staticBackends };
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

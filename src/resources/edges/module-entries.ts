import { Type } from 'typebox';
import type { TProperties, TSchema } from 'typebox';

import { modulesFor } from '../../modules/index.ts';
import type { EdgeModule, ModuleTarget, Settings } from '../../modules/module.ts';
import type { EntryFields, EntryName, IdOf, NameOf } from '../configuration-kind.ts';
import { nameOf as nameSchema } from '../configuration-schema.ts';
import type { Referables } from '../references.ts';
import { acceptModule } from './module-fields.ts';
import type { StoredModules } from './module-fields.ts';

/** Fields of a configuration's entry for every module of the target: its input, with names in place of ids. */
export function moduleEntryFields(target: ModuleTarget): TProperties {
  return Object.fromEntries(modulesFor(target).map((module) => [module.name, Type.Optional(moduleEntry(module))]));
}

function moduleEntry({ title, input, references = [] }: EdgeModule): TSchema {
  // Every module's input is a TypeBox object, which holds its fields here.
  const { properties } = input as unknown as { readonly properties: TProperties };
  const fields: Record<string, TSchema> = { ...properties };
  for (const { field, nameField, kind } of references) {
    const isList = 'type' in (fields[field] ?? {}) && (fields[field] as { readonly type?: string }).type === 'array';
    const name = nameSchema(kind === 'backend' ? 'a backend' : 'an IP policy', kind === 'backend' ? 'app' : 'office');
    delete fields[field];
    fields[nameField] = isList ? Type.Array(name, { description: 'Names of the IP policies.' }) : name;
  }
  return Type.Object(fields, { description: `${title} module.`, additionalProperties: false });
}

/** Stored modules in canonical form. */
export function describeModules(target: ModuleTarget, modules: StoredModules, nameOf: NameOf): EntryFields {
  const set = modulesFor(target).filter(({ name }) => modules[name] !== undefined);
  // Only those that are set are left.
  return Object.fromEntries(set.map((module) => [module.name, toEntry(module, modules[module.name]!, nameOf)]));
}

/** The modules of an entry in canonical form. */
export function acceptModuleEntries(target: ModuleTarget, fields: EntryFields): EntryFields {
  const given = modulesFor(target).filter(({ name }) => fields[name] !== undefined);
  return Object.fromEntries(
    given.map((module) => {
      // Names stand where ids would: the module does not look into them.
      const settings = module.accept(toInput(module, fields[module.name], (_scope, name) => name) as never);
      return [module.name, toEntry(module, settings, (name) => name)];
    }),
  );
}

/** The modules of an entry as they are stored. */
export function storedModules(
  target: ModuleTarget,
  fields: EntryFields,
  idOf: IdOf,
  referables: Referables,
): StoredModules {
  const given = modulesFor(target).filter(({ name }) => fields[name] !== undefined);
  return Object.fromEntries(
    given.map((module) => [module.name, acceptModule(module, toInput(module, fields[module.name], idOf), referables)]),
  );
}

/** The others that the modules of an entry name. */
export function namesInModules(target: ModuleTarget, fields: EntryFields): readonly EntryName[] {
  const names: EntryName[] = [];
  const note = (scope: string, name: string) => {
    names.push({ scope, name });
    return name;
  };
  for (const module of modulesFor(target))
    if (fields[module.name] !== undefined) toInput(module, fields[module.name], note);
  return names;
}

function toInput({ references = [] }: EdgeModule, entry: unknown, idOf: IdOf): EntryFields {
  // The entry has passed the schema of its module.
  const input: Record<string, unknown> = { ...(entry as EntryFields) };
  for (const { kind, field, nameField } of references) {
    const { [nameField]: named } = input;
    delete input[nameField];
    if (Array.isArray(named)) input[field] = named.map((name) => idOf(kind, String(name)));
    else if (typeof named === 'string') input[field] = idOf(kind, named);
  }
  return input;
}

function toEntry({ references = [] }: EdgeModule, settings: Settings, nameOf: NameOf): EntryFields {
  const { enabled, ...rest }: Settings & Record<string, unknown> = { ...settings };
  const entry: Record<string, unknown> = { ...(enabled ? {} : { enabled }), ...rest };
  for (const { field, nameField } of references) {
    const { [field]: ids } = entry;
    delete entry[field];
    entry[nameField] = Array.isArray(ids) ? ids.map((id) => nameOf(String(id))) : nameOf(String(ids));
  }
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => !isEmpty(value)));
}

/** An empty list or map is what a module has where none is given. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

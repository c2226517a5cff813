import { Type } from 'typebox';
import type { TProperties, TSchema } from 'typebox';

import { modulesFor, prepareModules } from '../../modules/index.ts';
import { fieldReferences } from '../../modules/module.ts';
import type { EdgeModule, ModuleTarget, ReferenceKind, Settings } from '../../modules/module.ts';
import type { EntryFields, EntryName, IdOf, NameOf } from '../configuration-kind.ts';
import { nameOf as nameSchema } from '../configuration-schema.ts';
import { stableText } from '../stable-text.ts';
import type { Referables } from '../references.ts';
import { acceptModule } from './module-fields.ts';
import type { StoredModules } from './module-fields.ts';

const referenceWords: Readonly<Record<ReferenceKind, Readonly<Record<'noun' | 'plural' | 'example', string>>>> = {
  backend: { noun: 'a backend', plural: 'backends', example: 'app' },
  ip_policy: { noun: 'an IP policy', plural: 'IP policies', example: 'office' },
  certificate_authority: { noun: 'a certificate authority', plural: 'certificate authorities', example: 'staff' },
};

/** Fields of a configuration's entry for every module of the target: its input, with names in place of ids. */
export function moduleEntryFields(target: ModuleTarget): TProperties {
  return Object.fromEntries(modulesFor(target).map((module) => [module.name, Type.Optional(moduleEntry(module))]));
}

function moduleEntry(module: EdgeModule): TSchema {
  const { title, input } = module;
  // Every module's input is a TypeBox object, which holds its fields here.
  const { properties } = input as unknown as { readonly properties: TProperties };
  const fields: Record<string, TSchema> = { ...properties };
  for (const { field, nameField, kind, isOptional } of fieldReferences(module)) {
    const isList = 'type' in (fields[field] ?? {}) && (fields[field] as { readonly type?: string }).type === 'array';
    const { noun, plural, example } = referenceWords[kind];
    const name = nameSchema(noun, example);
    delete fields[field];
    const named = isList ? Type.Array(name, { description: `Names of the ${plural}.` }) : name;
    fields[nameField] = isOptional === true ? Type.Optional(named) : named;
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
export async function acceptModuleEntries(target: ModuleTarget, fields: EntryFields): Promise<EntryFields> {
  const given = modulesFor(target).filter(({ name }) => fields[name] !== undefined);
  const prepared = new Set([await prepareModules(fields, target)]);
  const accepted = Object.fromEntries(
    given.map((module) => {
      // Names stand where ids would: the module does not look into them.
      const input = toInput(module, fields[module.name], sameName);
      const settings = module.accept(input as never);
      module.checkTarget?.(settings, target);
      return [module.name, module.secrets === undefined ? toEntry(module, settings, sameName) : fields[module.name]];
    }),
  );
  prepared.clear();
  return accepted;
}

/**
 * The modules of an entry as they are compared with those of the entry before, and shown: a secret that is stored already is
 * no difference, and another one is not told.
 */
export function compareModuleEntries(
  target: ModuleTarget,
  fields: EntryFields,
  before: EntryFields | undefined,
): EntryFields {
  const secret = modulesFor(target).filter(({ name, secrets }) => secrets !== undefined && fields[name] !== undefined);
  if (secret.length === 0) return fields;
  const compared = secret.map((module) => {
    const input = toInput(module, fields[module.name], sameName) as never;
    // An entry in canonical form has what `toEntry` has put there.
    const known = before?.[module.name] as DescribedEntry | undefined;
    const stored = (fields[module.name] as DescribedEntry)[storedSettings];
    if (stored !== undefined) return [module.name, withSecret(fields[module.name] as DescribedEntry, stored, known)];
    const isKnown = known !== undefined && module.isSame?.(input, withNames(module, known) as never) === true;
    return [module.name, isKnown ? known : module.secrets?.concealInput(fields[module.name] as never)];
  });
  return { ...fields, ...Object.fromEntries(compared) };
}

/** An entry that was made of settings, with a word for secrets that the entry before does not have. */
function withSecret(entry: DescribedEntry, stored: Settings, known: DescribedEntry | undefined): EntryFields {
  const before = known?.[storedSettings];
  const digests = new Set(digestsIn(before));
  const isSame = known !== undefined && stableText(entry) === stableText(known);
  const isOther = digestsIn(stored).some((each) => !digests.has(each));
  return isOther || (isSame && withoutSeals(stored) !== withoutSeals(before))
    ? { ...entry, secret: '(secret)' }
    : entry;
}

/** Digests of the secrets in settings. */
function digestsIn(settings: Settings | undefined): readonly string[] {
  const digests: string[] = [];
  JSON.stringify(settings ?? null, (key, value: unknown) => {
    if (/^digests?$/.test(key)) digests.push(JSON.stringify(value));
    return value;
  });
  return digests;
}

/** A secret may be sealed anew: its digest tells whether it is the same. */
function withoutSeals(settings: Settings | undefined): string {
  return JSON.stringify(settings ?? null, (key, value: unknown) =>
    /^sealed$|_id$|_ids$/.test(key) ? undefined : value,
  );
}

/** The settings that an entry was made of, with names where they have ids, as the inputs that they are compared with. */
function withNames(module: EdgeModule, entry: DescribedEntry): unknown {
  const named = fieldReferences(module).map(({ field, nameField }) => [field, entry[nameField] ?? []] as const);
  return { ...entry[storedSettings], ...Object.fromEntries(named) };
}

function sameName(...names: readonly string[]): string {
  return names.at(-1) ?? '';
}

/** The modules of an entry as they are stored. */
export async function storedModules(
  target: ModuleTarget,
  fields: EntryFields,
  idOf: IdOf,
  referables: Referables,
): Promise<StoredModules> {
  const given = modulesFor(target).filter(({ name }) => fields[name] !== undefined);
  const prepared = new Set([await prepareModules(fields, target)]);
  const stored = Object.fromEntries(
    given.map((module) => {
      const input = toInput(module, fields[module.name], idOf);
      // An entry of an earlier moment brings its secrets with it.
      const earlier = (fields[module.name] as DescribedEntry)[storedSettings];
      if (earlier !== undefined) return [module.name, { ...earlier, ...referencesOf(module, input) }];
      return [module.name, acceptModule(module, input, referables, target)];
    }),
  );
  prepared.clear();
  return stored;
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

function referencesOf(module: EdgeModule, input: EntryFields): EntryFields {
  const fields = fieldReferences(module).map(({ field }) => field);
  return Object.fromEntries(fields.filter((field) => input[field] !== undefined).map((field) => [field, input[field]]));
}

function toInput(module: EdgeModule, entry: unknown, idOf: IdOf): EntryFields {
  // The entry has passed the schema of its module.
  const input: Record<string, unknown> = { ...(entry as EntryFields) };
  for (const { kind, field, nameField } of fieldReferences(module)) {
    const { [nameField]: named } = input;
    delete input[nameField];
    if (Array.isArray(named)) input[field] = named.map((name) => idOf(kind, String(name)));
    else if (typeof named === 'string') input[field] = idOf(kind, named);
  }
  return input;
}

/** The settings that an entry was made of, beside those that it shows: no text has them. */
const storedSettings = Symbol('stored settings');
type DescribedEntry = EntryFields & { readonly [storedSettings]?: Settings };

function toEntry(module: EdgeModule, settings: Settings, nameOf: NameOf): DescribedEntry {
  const { secrets } = module;
  const { enabled, ...rest }: Settings & Record<string, unknown> = { ...(secrets?.conceal(settings) ?? settings) };
  const entry: Record<string, unknown> = { ...(enabled ? {} : { enabled }), ...rest };
  for (const { field, nameField } of fieldReferences(module)) {
    const { [field]: ids } = entry;
    delete entry[field];
    // A reference that is left out where it names nothing.
    if (Array.isArray(ids)) entry[nameField] = ids.map((id) => nameOf(String(id)));
    else if (typeof ids === 'string') entry[nameField] = nameOf(ids);
  }
  const shown = Object.fromEntries(Object.entries(entry).filter(([, value]) => !isEmpty(value)));
  return secrets === undefined ? shown : { ...shown, [storedSettings]: settings };
}

/** An empty list or map is what a module has where none is given. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

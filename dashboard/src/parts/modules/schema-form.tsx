import { Check, SelectField, TextField } from '../../components/field.tsx';
import { mapOf, PairsField, pairsOf } from '../../components/list-fields.tsx';
import { countOf } from '../../lib/text.ts';
import type { ModuleEdit, Values } from './kind.ts';
import { emptyValue, titleOf } from './schema.ts';
import type { FieldSchema, ObjectSchema } from './schema.ts';
import type { ModuleView } from './target.ts';

/** Settings of a module that is set, or what its form begins with. */
export function settingsFrom({ properties }: ObjectSchema, view: ModuleView | null): Values {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, view?.[name] ?? emptyValue(field)]),
  );
}

/** Every setting but the switch, by its schema. A module without settings is only switched on. */
export function SchemaFields({ schema, edit }: { readonly schema: ObjectSchema; readonly edit: ModuleEdit }) {
  const fields = Object.entries(schema.properties).filter(([name]) => name !== 'enabled');
  return (
    <>
      {schema.description === undefined ? null : <p className="soft">{schema.description.replaceAll('`', '')}</p>}
      {fields.map(([name, field]) => (
        <SchemaField key={name} name={name} field={field} edit={edit} />
      ))}
    </>
  );
}

function SchemaField({
  name,
  field,
  edit,
}: {
  readonly name: string;
  readonly field: FieldSchema;
  readonly edit: ModuleEdit;
}) {
  const value = edit.values[name];
  const set = (next: unknown): void => edit.set(name, next);
  const shared = { label: titleOf(name), hint: field.description, error: edit.errorAt(name) };
  if (field.type === 'boolean') {
    return (
      <Check isOn={value === true} onChange={set}>
        {titleOf(name)}. {field.description}
      </Check>
    );
  }
  if (field.enum !== undefined) {
    return (
      <SelectField {...shared} value={String(value)} options={field.enum.map((each) => [each, each])} onChange={set} />
    );
  }
  if (field.type === 'integer' || field.type === 'number') {
    return <TextField {...shared} type="number" value={String(value)} onChange={(text) => set(Number(text))} />;
  }
  if (field.type === 'array' && field.items?.type === 'string') {
    return <LinesField {...shared} lines={textsIn(value)} onChange={set} />;
  }
  if (field.type === 'object' && typeof field.additionalProperties === 'object') {
    return (
      <PairsField
        label={shared.label}
        nouns={['Name', 'Value']}
        addWords="Add a line"
        // The schema says that it is a map of texts.
        pairs={pairsOf((value ?? {}) as Record<string, string>)}
        onChange={(pairs) => set(mapOf(pairs))}
        error={shared.error}
      />
    );
  }
  const limit = field['x-max-bytes'];
  return (
    <TextField
      {...shared}
      value={typeof value === 'string' ? value : ''}
      onChange={set}
      {...(limit === undefined ? {} : { limitBytes: limit })}
    />
  );
}

/** A list of texts, one a line; the line that is being typed may be empty. */
export function LinesField({
  lines,
  onChange,
  ...field
}: {
  readonly label: string;
  readonly note?: string;
  readonly hint?: string | undefined;
  readonly placeholder?: string;
  readonly error?: string | undefined;
  readonly lines: readonly string[];
  readonly onChange: (lines: readonly string[]) => void;
}) {
  return (
    <TextField {...field} mono rows={3} value={lines.join('\n')} onChange={(text) => onChange(text.split('\n'))} />
  );
}

/** Lines as they are sent: trimmed, without empty ones. */
export function linesOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The settings in one line. */
export function SchemaSummary({ schema, view }: { readonly schema: ObjectSchema; readonly view: ModuleView }) {
  const parts = Object.entries(schema.properties).flatMap(([name, { type }]) => {
    const value = view[name];
    if (name === 'enabled' || value === undefined || value === null) return [];
    if (type === 'array') return [`${titleOf(name)}: ${countOf(textsIn(value).length, 'entry', 'entries')}`];
    if (type === 'object') return [`${titleOf(name)}: ${countOf(Object.keys(value).length, 'entry', 'entries')}`];
    return [`${titleOf(name)}: ${JSON.stringify(value)}`];
  });
  return parts.length === 0 ? 'Set' : parts.join(' · ');
}

import { backendKind } from './backend.tsx';
import { headersKind } from './headers.tsx';
import { ipRestrictionKind } from './ip-restriction.tsx';
import type { ModuleKind } from './kind.ts';
import { SchemaFields, SchemaSummary, settingsFrom } from './schema-form.tsx';
import { titleOf } from './schema.ts';
import type { ObjectSchema } from './schema.ts';

/** Modules that read badly as a generic form. All others come from their schema. */
const made: Readonly<Record<string, ModuleKind>> = {
  ip_restriction: ipRestrictionKind,
  backend: backendKind,
  request_headers: headersKind('Request headers', 'Request', 'the upstream sees the request'),
  response_headers: headersKind('Response headers', 'Response', 'the client sees the response'),
};

/** Words for modules whose form comes from the schema; one that is not here is named by its field. */
const words: Readonly<Record<string, Partial<ModuleKind>>> = {
  compression: {
    icon: 'compress',
    badge: 'Compressed',
    whenNotSet: 'Not set: answers go out as the upstream sends them',
    Summary: () => 'Brotli, Zstandard or gzip, where the client accepts it',
  },
};

/** A title inside of a sentence: "request headers", "IP restriction". */
export function inSentence(title: string): string {
  return title.startsWith('IP ') ? title : title.toLowerCase();
}

export function kindOf(name: string, schema: ObjectSchema): ModuleKind {
  return made[name] ?? { ...genericKind(name, schema), ...words[name] };
}

function genericKind(name: string, schema: ObjectSchema): ModuleKind {
  return {
    icon: 'filter',
    title: titleOf(name),
    badge: titleOf(name),
    whenNotSet: 'Not set',
    errors: {},
    toValues: (view) => settingsFrom(schema, view),
    toSettings: (values) => Promise.resolve(values),
    Summary: ({ view }) => <SchemaSummary schema={schema} view={view} />,
    Fields: ({ edit }) => <SchemaFields schema={schema} edit={edit} />,
  };
}

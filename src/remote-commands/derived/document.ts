import { readFileSync } from 'node:fs';

import { packageFolder } from '../../lib/package-folder.ts';

/** The parts of a JSON schema that commands and the types of the client are derived from. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
  readonly description?: string;
}

interface Content {
  readonly schema: Schema;
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

let document: OpenApiDocument | undefined;

/** The document of this version, which is part of the package. */
export function readDocument(): OpenApiDocument {
  // The contract tests hold the file to what the server serves.
  return (document ??= JSON.parse(readFileSync(new URL('openapi.json', packageFolder), 'utf8')) as OpenApiDocument);
}

export function resolveSchema({ components }: OpenApiDocument, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (components.schemas[lastPart(schema.$ref)] ?? {});
}

export function resolveParameter({ components }: OpenApiDocument, parameter: Parameter): Parameter {
  return parameter.$ref === undefined ? parameter : (components.parameters[lastPart(parameter.$ref)] ?? parameter);
}

/** The schema of the answer to a call that succeeds, and its media type. */
export function successOf({ responses }: DocumentedOperation): {
  readonly status: string;
  readonly type: string | undefined;
  readonly schema: Schema | undefined;
} {
  const [status = '', success] = Object.entries(responses).find(([each]) => each.startsWith('2')) ?? [];
  const [type, content] = Object.entries(success?.content ?? {})[0] ?? [];
  return { status, type, schema: content?.schema };
}

function lastPart(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

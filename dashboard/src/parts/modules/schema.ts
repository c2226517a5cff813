/** The parts of JSON Schema by which a form is made. */
export interface FieldSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: { readonly type?: string };
  readonly additionalProperties?: boolean | { readonly type?: string };
  readonly default?: unknown;
  readonly 'x-max-bytes'?: number;
}

export interface ObjectSchema {
  readonly description?: string;
  readonly properties: Readonly<Record<string, FieldSchema>>;
}

/** Settings of a module, as they are sent. */
export type Settings = Readonly<Record<string, unknown>>;

/** Such as "Request headers" for `request_headers`. */
export function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/^ip\b/, 'IP');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Value of a field before anybody has typed. */
export function emptyValue({ type, default: given, enum: values }: FieldSchema): unknown {
  if (given !== undefined) return given;
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  if (type === 'object') return {};
  return values?.[0] ?? (type === 'integer' || type === 'number' ? 0 : '');
}

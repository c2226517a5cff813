import { asList, CelMap, Duration, Timestamp, TypeName, Uint } from './values.ts';
import type { Value } from './values.ts';

/** A type as it is known when an expression is compiled. `Of` is the type of its values. */
export interface Type<Of extends Value = Value> {
  readonly name: string;
  /** `any`: known only when it runs. */
  readonly kind: 'any' | 'plain' | 'list' | 'map' | 'object';
  /** Of the items of a list, or of the values of a map. */
  readonly item?: Type;
  /** Of the keys of a map. */
  readonly key?: Type;
  readonly fields?: Readonly<Record<string, Type>>;
  readonly is: (value: Value) => value is Of;
}

function plain<Of extends Value>(name: string, is: (value: Value) => value is Of): Type<Of> {
  return { name, kind: 'plain', is };
}

const isMap = (value: Value): value is CelMap => value instanceof CelMap;
const isList = (value: Value): value is readonly Value[] => asList(value) !== undefined;

export const any: Type = { name: 'any', kind: 'any', is: (value): value is Value => value !== undefined };
export const bool = plain('bool', (value) => typeof value === 'boolean');
export const int = plain('int', (value) => typeof value === 'bigint');
export const uint = plain('uint', (value) => value instanceof Uint);
export const double = plain('double', (value) => typeof value === 'number');
export const string = plain('string', (value) => typeof value === 'string');
export const bytes = plain('bytes', (value) => value instanceof Uint8Array);
export const nothing = plain('null', (value) => value === null);
export const timestamp = plain('timestamp', (value) => value instanceof Timestamp);
export const duration = plain('duration', (value) => value instanceof Duration);
export const typeName = plain('type', (value) => value instanceof TypeName);

export function listOf(item: Type): Type<readonly Value[]> {
  return { name: `list(${item.name})`, kind: 'list', item, is: isList };
}

export function mapOf(key: Type, item: Type): Type<CelMap> {
  return { name: `map(${key.name}, ${item.name})`, kind: 'map', key, item, is: isMap };
}

/** A map whose keys are known. */
export function objectOf(name: string, fields: Readonly<Record<string, Type>>): Type<CelMap> {
  return { name, kind: 'object', fields, is: isMap };
}

export const list = listOf(any);
export const map = mapOf(any, any);

/** True where a value of one type may be one of the other. */
export function fits(given: Type, wanted: Type): boolean {
  if (given.kind === 'any' || wanted.kind === 'any') return true;
  if (given.kind === 'object' && wanted.kind === 'map') return true;
  if (given.kind !== wanted.kind) return false;
  if (given.kind === 'plain' || given.kind === 'object') return given.name === wanted.name;
  return fits(given.key ?? any, wanted.key ?? any) && fits(given.item ?? any, wanted.item ?? any);
}

/** True where each value of one type is one of the other: nothing is left to be found out. */
export function isSurely(given: Type, wanted: Type): boolean {
  if (wanted.kind === 'any') return true;
  return given.kind !== 'any' && fits(given, wanted) && (wanted.kind === 'plain' || wanted.item?.kind === 'any');
}

/** The type that values of all of these have. */
export function commonType(types: readonly Type[]): Type {
  const [first, ...rest] = types;
  if (first === undefined) return any;
  if (rest.every(({ name }) => name === first.name)) return first;
  if (types.every(({ kind }) => kind === 'list')) return list;
  return types.every(({ kind }) => kind === 'map') ? map : any;
}

export function typeOf(value: Value): string {
  if (value === null) return 'null_type';
  if (asList(value) !== undefined) return 'list';
  if (value instanceof CelMap) return 'map';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof TypeName) return 'type';
  return [bool, int, uint, double, string, bytes].find(({ is }) => is(value))?.name ?? 'any';
}

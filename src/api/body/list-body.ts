import type { TSchema } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import { chunks } from '../../lib/chunks.ts';
import { Pace } from '../../lib/pace.ts';
import { finishInTurns } from '../../lib/steps.ts';
import type { Steps } from '../../lib/steps.ts';
import { bodyLimitBytes, checkMediaType, decodeText, entryKinds, normalizeBody, parseBody } from './body.ts';
import { bodyUnreadable } from '../errors.ts';
import { besideListBytes, findList, listPieces } from './list-pieces.ts';
import type { Operation } from '../operation.ts';
import { explainValidation, mostRelevantError } from './validation.ts';
import type { Validate } from './validation.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Members of a map in an entry that are checked at once. */
const membersAtOnce = 512;

/** A list as it came. It may be so long that it is parsed and validated in slices, once the caller is known. */
class UnparsedList {
  readonly contentType: string;
  readonly bytes: Buffer;

  constructor(contentType: string, bytes: Buffer) {
    this.contentType = contentType;
    this.bytes = bytes;
  }
}

/** Takes the place of `parseBody` for lists. */
export function keepUnparsed({ bodyTypes = ['application/json'] }: Operation): typeof parseBody {
  return (contentType, encoding, bytes) =>
    bytes.length === 0 ? undefined : new UnparsedList(checkMediaType(contentType, encoding, bodyTypes), bytes);
}

/** Parses, normalizes and validates a list, a piece at a time. */
export async function readList(
  operation: Operation,
  body: unknown,
  named: ReadonlyMap<string, TSchema>,
  validate: Validate,
  isAbandoned: () => boolean,
): Promise<unknown> {
  const kinds = entryKinds(operation.body, named);
  const check = (value: unknown, entriesBefore = 0) => {
    const { body: normal } = normalizeBody(operation, {}, value, named);
    if (validate(normal) !== true) throw faultsOf(validate, normal, entriesBefore, operation, kinds);
    return normal;
  };
  if (!(body instanceof UnparsedList)) return check(body);
  const { contentType, bytes } = body;
  if (contentType === 'text/plain' && operation.parseText !== undefined) return operation.parseText(bytes, isAbandoned);
  const place = findList(bytes, operation.shownAs?.key);
  if (place === undefined) {
    if (bytes.length > bodyLimitBytes) throw new UserError(bodyUnreadable, { reason: 'it is not a list' });
    return check(parseBody(contentType, undefined, bytes));
  }
  const pace = new Pace(isAbandoned);
  const list: unknown[] = [];
  const pieces = listPieces(bytes, place, operation.entryLimitBytes);
  let next = pieces.next();
  for (; next.done !== true; next = pieces.next()) {
    const { from, to, entriesBefore } = next.value;
    const steps = checkPiece(parsePiece(bytes.subarray(from, to), entriesBefore), entriesBefore, check);
    for (const entry of await finishInTurns(steps, pace)) list.push(entry);
    if (pace.isDue) await pace.giveWay();
  }
  if (place.isField) {
    const rest = check(parseBody(contentType, undefined, besideList(bytes, place.start, next.value)));
    if (!Array.isArray(rest) || rest.length > 0) throw new UserError(bodyUnreadable, { reason: 'it has two lists' });
  }
  return list;
}

/** The object of which a list is a field, without the entries of the list. */
function besideList(bytes: Buffer, from: number, to: number): Buffer {
  if (bytes.length - to > besideListBytes)
    throw new UserError(bodyUnreadable, { reason: 'there is too much behind the list' });
  return Buffer.concat([bytes.subarray(0, from), Buffer.from('[]'), bytes.subarray(to)]);
}

type Check = (list: readonly unknown[], entriesBefore: number) => unknown;

/** Checks the entries of a piece, an entry with very many members a few of these at a time. */
function* checkPiece(entries: readonly unknown[], entriesBefore: number, check: Check): Steps<readonly unknown[]> {
  // The schema is that of a list, so a list is what passes.
  if (entries.every((entry) => largeMap(entry) === undefined))
    return check(entries, entriesBefore) as readonly unknown[];
  const checked: unknown[] = [];
  for (const [at, entry] of entries.entries()) {
    const field = largeMap(entry);
    if (field === undefined) [checked[at]] = check([entry], entriesBefore + at) as readonly unknown[];
    else checked[at] = yield* checkLarge(entry as Fields, field, (part) => check([part], entriesBefore + at));
    yield;
  }
  return checked;
}

/** Checks an entry as several, each with some members of a map. */
function* checkLarge(entry: Fields, field: string, check: (part: Fields) => unknown): Steps<Fields> {
  const members: [string, unknown][] = [];
  let rest: Fields = {};
  const map = entry[field] as Fields;
  for (const keys of chunks(Object.keys(map), membersAtOnce)) {
    const some = Object.fromEntries(keys.map((key) => [key, map[key]]));
    const [part] = check({ ...entry, [field]: some }) as readonly Fields[];
    rest = part ?? rest;
    for (const member of Object.entries(rest[field] ?? {})) members.push(member);
    yield;
  }
  return { ...rest, [field]: Object.fromEntries(members) };
}

/** The name of the first field that is a map with very many members. */
function largeMap(entry: unknown): string | undefined {
  if (!isMap(entry)) return undefined;
  return Object.keys(entry).find((field) => isMap(entry[field]) && Object.keys(entry[field]).length > membersAtOnce);
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsePiece(bytes: Buffer, entriesBefore: number): readonly unknown[] {
  const text = decodeText(bytes);
  try {
    // Between brackets, whatever can be read is a list.
    return JSON.parse(`[${text}]`) as readonly unknown[];
  } catch {
    throw new UserError(bodyUnreadable, { reason: `it is not valid JSON (in or after entry ${entriesBefore + 1})` });
  }
}

/** Entries of a configuration that one answer finds fault with. */
const mostFaults = 10;

/** The faults of all entries, a line for each, where their author looks for them by name; else the first one. */
function faultsOf(
  validate: Validate,
  list: unknown,
  entriesBefore: number,
  operation: Operation,
  kinds: readonly string[],
): UserError {
  const first = faultOf(validate, list, entriesBefore, operation, kinds);
  if (operation.entryPlace === undefined || !Array.isArray(list)) return first;
  const texts: string[] = [];
  for (const [at, entry] of list.entries()) {
    if (validate([entry]) === true) continue;
    texts.push(faultOf(validate, [entry], entriesBefore + at, operation, kinds).message);
    if (texts.length === mostFaults) break;
  }
  const { code, status, headers } = first;
  return new UserError({ code, status, message: '{text}' }, { text: texts.join('\n') || first.message }, headers);
}

/** The number of an entry in a fault is that in its piece. */
function faultOf(
  validate: Validate,
  list: unknown,
  entriesBefore: number,
  operation: Operation,
  kinds: readonly string[],
): UserError {
  const found = mostRelevantError(validate.errors);
  const fault = {
    ...found,
    params: { ...found.params, ...(found.keyword === 'discriminator' && { allowedValues: kinds }) },
  };
  const [, index, rest = ''] = /^\/(\d+)(.*)$/s.exec(fault.instancePath) ?? [];
  if (index === undefined) return explainValidation(fault, operation);
  const { entryPlace } = operation;
  if (entryPlace === undefined)
    return explainValidation({ ...fault, instancePath: `/${Number(index) + entriesBefore}${rest}` }, operation);
  const entry: unknown = Array.isArray(list) ? list[Number(index)] : undefined;
  return explainValidation({ ...fault, instancePath: rest }, operation).at(
    `entry ${Number(index) + entriesBefore + 1}, ${entryPlace(entry)}`,
  );
}

import type { TSchema } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import { Pace } from '../../lib/pace.ts';
import { bodyLimitBytes, checkMediaType, decodeText, normalizeBody, parseBody } from './body.ts';
import { bodyUnreadable } from '../errors.ts';
import { listPieces, startOfList } from './list-pieces.ts';
import type { Operation } from '../operation.ts';
import { explainValidation, mostRelevantError } from './validation.ts';
import type { Validate } from './validation.ts';

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
): Promise<unknown> {
  const check = (value: unknown, entriesBefore = 0) => {
    const { body: normal } = normalizeBody(operation, {}, value, named);
    if (validate(normal) !== true) throw faultOf(validate, normal, entriesBefore, operation);
    return normal;
  };
  if (!(body instanceof UnparsedList)) return check(body);
  const { contentType, bytes } = body;
  if (contentType === 'text/plain' && operation.parseText !== undefined) return operation.parseText(bytes);
  const start = startOfList(bytes);
  if (start === undefined) {
    if (bytes.length > bodyLimitBytes) throw new UserError(bodyUnreadable, { reason: 'it is not a list' });
    return check(parseBody(contentType, undefined, bytes));
  }
  const pace = new Pace();
  const list: unknown[] = [];
  for (const { from, to, entriesBefore } of listPieces(bytes, start, operation.entryLimitBytes)) {
    // The schema is that of a list, so a list is what passes.
    const entries = check(parsePiece(bytes.subarray(from, to), entriesBefore), entriesBefore) as readonly unknown[];
    for (const entry of entries) list.push(entry);
    if (pace.isDue) await pace.giveWay();
  }
  return list;
}

function parsePiece(bytes: Buffer, entriesBefore: number): unknown {
  const text = decodeText(bytes);
  try {
    return JSON.parse(`[${text}]`);
  } catch {
    throw new UserError(bodyUnreadable, { reason: `it is not valid JSON (in or after entry ${entriesBefore + 1})` });
  }
}

/** The number of an entry in a fault is that in its piece. */
function faultOf(validate: Validate, list: unknown, entriesBefore: number, operation: Operation): UserError {
  const fault = mostRelevantError(validate.errors);
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

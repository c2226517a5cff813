import { UserError } from '../../errors/user-error.ts';
import { closeBrace, closeBracket, depthLimit, endOfText, openBrace, openBracket, quoteMark } from './body-shape.ts';
import { bodyTooDeep, bodyUnreadable, listEntryTooLong } from '../errors.ts';

/** Bytes after which a piece ends with the next entry. */
const pieceBytes = 64 * 1024;
/** Unless an operation says otherwise. */
const usualEntryLimitBytes = 64 * 1024;
/** Bytes of an object that may stand before the list which is a field of it, and beside it in all. */
export const besideListBytes = 16 * 1024;
const [comma, colon] = [0x2c, 0x3a];
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Entries of a JSON list, with the commas between them but not those around them. */
interface Piece {
  readonly from: number;
  readonly to: number;
  /** The number of entries before it. */
  readonly entriesBefore: number;
}

/** The place of a list in a text: the whole of it, or a field of an object, as answers show a list. */
interface ListPlace {
  readonly start: number;
  readonly isField: boolean;
}

/** Undefined where the text does not begin as a list does, nor as an object that soon has one in the field `key`. */
export function findList(bytes: Buffer, key?: string): ListPlace | undefined {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const start = skipBlanks(bytes, hasMark ? 3 : 0);
  if (bytes[start] === openBracket) return { start, isField: false };
  const field = key === undefined || bytes[start] !== openBrace ? undefined : findField(bytes, start, key);
  return field === undefined ? undefined : { start: field, isField: true };
}

/** The place of the list in a field of the object that begins at `from`. */
function findField(bytes: Buffer, from: number, key: string): number | undefined {
  const to = Math.min(bytes.length, from + besideListBytes);
  let depth = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === openBracket || byte === openBrace) depth += 1;
    else if (byte === closeBracket || byte === closeBrace) depth -= 1;
    if (byte !== quoteMark) continue;
    const end = endOfText(bytes, at, to);
    const behind = skipBlanks(bytes, end + 1);
    if (depth === 1 && bytes[behind] === colon && bytes.toString('latin1', at + 1, end) === key) {
      const value = skipBlanks(bytes, behind + 1);
      return bytes[value] === openBracket ? value : undefined;
    }
    at = end;
  }
  return undefined;
}

/**
 * Cuts the text of a JSON list between its entries, so that each piece can be parsed by itself. The list is well-formed if,
 * and only if, nothing is thrown here and every piece is well-formed between brackets of its own. Returns the place behind
 * the list, at which the text must end unless the list is a field.
 */
export function* listPieces(
  bytes: Buffer,
  { start, isField }: ListPlace,
  entryLimitBytes: number = usualEntryLimitBytes,
): Generator<Piece, number> {
  let from = start + 1;
  let entryFrom = from;
  let entries = 0;
  let entriesBefore = 0;
  let depth = 1;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (at - entryFrom > entryLimitBytes)
      throw new UserError(listEntryTooLong, { entry: entries + 1, limit: entryLimitBytes });
    if (byte === quoteMark) at = endOfText(bytes, at, entryFrom + entryLimitBytes);
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > depthLimit) throw new UserError(bodyTooDeep, { limit: depthLimit });
    } else if (byte === closeBracket || byte === closeBrace) {
      if (--depth > 0) continue;
      if (byte !== closeBracket || (!isField && skipBlanks(bytes, at + 1) < bytes.length)) break;
      // An empty piece is no entry, unless it is all that there is.
      if (entries > 0 || skipBlanks(bytes, from) < at) yield { from, to: at, entriesBefore };
      return at + 1;
    } else if (byte === comma && depth === 1) {
      entries += 1;
      entryFrom = at + 1;
      if (at - from < pieceBytes) continue;
      yield { from, to: at, entriesBefore };
      from = at + 1;
      entriesBefore = entries;
    }
  }
  throw new UserError(bodyUnreadable, { reason: 'it is not valid JSON (its brackets do not match)' });
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (blanks.has(bytes[at])) at += 1;
  return at;
}

import { UserError } from '../../errors/user-error.ts';
import { closeBrace, closeBracket, depthLimit, endOfText, openBrace, openBracket, quoteMark } from './body-shape.ts';
import { bodyTooDeep, bodyUnreadable, listEntryTooLong } from '../errors.ts';

/** Bytes after which a piece ends with the next entry. */
const pieceBytes = 64 * 1024;
/** Unless an operation says otherwise. */
const usualEntryLimitBytes = 64 * 1024;
const comma = 0x2c;
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Entries of a JSON list, with the commas between them but not those around them. */
interface Piece {
  readonly from: number;
  readonly to: number;
  /** The number of entries before it. */
  readonly entriesBefore: number;
}

/** Undefined where the text does not begin as a list does. */
export function startOfList(bytes: Buffer): number | undefined {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const start = skipBlanks(bytes, hasMark ? 3 : 0);
  return bytes[start] === openBracket ? start : undefined;
}

/**
 * Cuts the text of a JSON list between its entries, so that each piece can be parsed by itself. The list is well-formed if,
 * and only if, nothing is thrown here and every piece is well-formed between brackets of its own.
 */
export function* listPieces(
  bytes: Buffer,
  start: number,
  entryLimitBytes: number = usualEntryLimitBytes,
): Generator<Piece> {
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
      if (byte !== closeBracket || skipBlanks(bytes, at + 1) < bytes.length) break;
      // An empty piece is no entry, unless it is all that there is.
      if (entries > 0 || skipBlanks(bytes, from) < at) yield { from, to: at, entriesBefore };
      return;
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

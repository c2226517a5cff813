import { UserError } from '../../errors/user-error.ts';
import { bodyTooDeep, tooManyFields } from '../errors.ts';

/** No field of the API nests deeper than four levels. */
export const depthLimit = 32;
/** No body of the API has more than a few hundred fields. */
const fieldLimit = 5_000;
/** A smaller body is parsed in a fraction of a millisecond, whatever its form. */
const checkedFromBytes = 16 * 1024;

export const quoteMark = 0x22;
const [backslash, colon] = [0x5c, 0x3a];
export const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Refuses JSON whose form alone shows that no operation takes it, because parsing and validating a megabyte of fields or
 * brackets would make every other call wait. What passes may still be malformed.
 */
export function checkShape(bytes: Buffer): void {
  if (bytes.length < checkedFromBytes) return;
  let depth = 0;
  let fields = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quoteMark) at = endOfText(bytes, at);
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > depthLimit) throw new UserError(bodyTooDeep, { limit: depthLimit });
    } else if (byte === closeBracket || byte === closeBrace) depth -= 1;
    else if (byte === colon && ++fields > fieldLimit) throw new UserError(tooManyFields, { limit: fieldLimit });
  }
}

/** The place of the quotation mark that ends the text which begins at `from`; `to`, where it does not end before. */
export function endOfText(bytes: Buffer, from: number, to = bytes.length): number {
  for (let at = from + 1; at < to; at++) {
    const byte = bytes[at];
    if (byte === quoteMark) return at;
    if (byte === backslash) at += 1;
  }
  return to;
}

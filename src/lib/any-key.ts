import { Type } from 'typebox';

/**
 * The key of a map, for `Type.Record`. Its pattern matches every text, also one with line terminators: a value whose key
 * does not match the pattern of its map is not checked at all.
 */
export const anyKeyPattern = String.raw`^[\s\S]*$`;
export const anyKey = Type.String({ pattern: anyKeyPattern });

/** A public key of an issuer, with the fields that a check of signatures uses. */
export interface IssuerKey {
  readonly kty: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
  readonly key_ops?: string[];
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
}

interface KeySet {
  readonly keys: readonly IssuerKey[];
  /** Count of keys that would cost too much, or have no form that could be used. */
  readonly leftOut: number;
}

/**
 * Bytes of an answer with keys. Most issuers have two to ten keys of half a kilobyte; those that add a chain of certificates to
 * each need two, and some show a key for every part of their service: a hundred of the largest fit.
 */
export const keySetBytes = 262_144;
const mostKeys = 256;
/** An RSA key beyond these bits costs a check many times what the usual one does. */
const modulusBits = 4096;
const exponentBits = 32;
const longestText = 1024;
const textFields = ['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e'] as const;
const mostUses = 16;

/** Reads an answer with keys. Throws if it has none of this form, or too many. */
export function readKeySet(text: string): KeySet {
  const found: unknown = JSON.parse(text);
  const list: unknown = typeof found === 'object' && found !== null && 'keys' in found ? found.keys : undefined;
  if (!Array.isArray(list)) throw new Error('the answer has no list of keys');
  if (list.length > mostKeys) throw new Error(`the answer has ${list.length} keys, and ${mostKeys} is the limit`);
  const keys = list.flatMap((each: unknown) => readKey(each) ?? []);
  return { keys, leftOut: list.length - keys.length };
}

/** Undefined: the key must not be used. */
function readKey(value: unknown): IssuerKey | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  // Each field is checked below.
  const given = value as Readonly<Record<string, unknown>>;
  const texts = textFields.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const]));
  if (!texts.every(([, text]) => typeof text === 'string' && text.length <= longestText)) return undefined;
  const { kty, n, e, key_ops: uses } = given;
  if (typeof kty !== 'string') return undefined;
  if (kty === 'RSA' && (bitsOf(n) > modulusBits || bitsOf(e) > exponentBits)) return undefined;
  if (uses === undefined) return { ...Object.fromEntries(texts), kty };
  if (!Array.isArray(uses) || uses.length > mostUses || !uses.every(isShortText)) return undefined;
  return { ...Object.fromEntries(texts), kty, key_ops: uses };
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestText;
}

/** Bits of a number in base64url; infinite for a text that is none. */
function bitsOf(value: unknown): number {
  if (typeof value !== 'string' || !/^[\w-]+$/.test(value)) return Infinity;
  const bytes = Buffer.from(value, 'base64url');
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? 0 : (bytes.length - first) * 8 - (Math.clz32(bytes[first] ?? 0) - 24);
}

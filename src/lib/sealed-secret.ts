import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';

/** Encrypts secrets at rest. Opening takes the same context, such as a row's id, so that no secret can be moved. */
export interface Sealer {
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
  /** For another process of this installation on the same machine, which opens what this one seals. */
  readonly key: Uint8Array | undefined;
}

/** Thrown for a text that was not sealed with this key for this context. */
class SealError extends Error {
  override readonly name = 'SealError';
}

const minKeyLength = 32;
/** Start of a sealed text that anyone can read. */
export const plainPrefix = 'plain:';
const gcmPrefix = 'gcm1:';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * A key is at least 32 characters; deriving takes about 0.1 s, once. Without a key, `seal` returns text that anyone can
 * read. Values kept before there was a key still open.
 */
export function createSealer(secretKey: string | undefined): Sealer {
  return createKeySealer(secretKey === undefined ? undefined : deriveKey(secretKey));
}

/** The same with 32 random bytes. */
export function createKeySealer(key: Uint8Array | undefined): Sealer {
  return {
    key,
    seal: (plain, context) => (key === undefined ? `${plainPrefix}${plain}` : encrypt(key, plain, context)),
    open: (sealed, context) => {
      if (sealed.startsWith(plainPrefix)) return sealed.slice(plainPrefix.length);
      if (!sealed.startsWith(gcmPrefix)) {
        throw new SealError('A sealed secret has an unknown form. It was written by a newer version, or is damaged.');
      }
      if (key === undefined) {
        throw new SealError(
          'A secret is encrypted, and secret_key is not set. Set secret_key to the key it was encrypted with.',
        );
      }
      return decrypt(key, sealed.slice(gcmPrefix.length), context);
    },
  };
}

/** A process seals rows and the file of its gateway with one key. */
let derived: { readonly secretKey: string; readonly key: Buffer } | undefined;

function deriveKey(secretKey: string): Buffer {
  if (derived?.secretKey !== secretKey) derived = { secretKey, key: deriveNow(secretKey) };
  return derived.key;
}

/** The salt is fixed, so that every process derives the same key; scrypt makes guessing a weak one slow. */
function deriveNow(secretKey: string): Buffer {
  if (secretKey.length < minKeyLength) {
    throw new SealError(
      `secret_key has ${secretKey.length} characters. Use at least ${minKeyLength}, chosen at random.`,
    );
  }
  return scryptSync(secretKey, 'sealed-secret gcm1', 32, { N: 32_768, r: 8, p: 1, maxmem: 64 * 1024 * 1024 });
}

function encrypt(key: Uint8Array, plain: string, context: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context));
  const parts = [nonce, cipher.update(plain, 'utf8'), cipher.final()];
  return gcmPrefix + Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64');
}

function decrypt(key: Uint8Array, base64: string, context: string): string {
  const bytes = Buffer.from(base64, 'base64');
  const tagStart = bytes.length - tagBytes;
  try {
    if (tagStart < nonceBytes) throw new RangeError('too short');
    const nonce = bytes.subarray(0, nonceBytes);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(tagStart));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, tagStart)), decipher.final()]).toString('utf8');
  } catch {
    throw new SealError(
      `The secret of ${context} does not open. secret_key is not the one it was encrypted with, or the value was changed. ` +
        'Set secret_key to the former key.',
    );
  }
}

/**
 * The form of a token: the 27 characters of a key's id, `_` (which may stand as `%5F` in a path), and a secret of 43. The
 * id is no secret, and tells which key to revoke.
 */
const secretOfToken = /(?<=[0-9A-Za-z]{27})(_|%5f)[0-9A-Za-z]{43,}/gi;

/**
 * Takes the secrets out of everything in a text that has the form of a token. A token that an operator has chosen, for the
 * first key, has no form by which it could be found.
 */
export function maskTokens(text: string): string {
  return text.replaceAll(secretOfToken, '$1[masked]');
}

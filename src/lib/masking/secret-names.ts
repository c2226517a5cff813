/** Parts of a name, without its punctuation, that make its value a secret wherever they stand. */
const parts: readonly string[] = [
  'accesskey',
  'apikey',
  'assertion',
  'authenticat',
  'authorization',
  'bearer',
  'cardnumber',
  'cookie',
  'credential',
  'csrf',
  'encryptionkey',
  'jwt',
  'passcode',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'saml',
  'secret',
  'sessionid',
  'signature',
  'signingkey',
  'token',
  'xsrf',
];

/** Words that do so where they stand alone in a name, such as `X-Auth` or `user_pin`. */
const words: ReadonlySet<string> = new Set([
  'auth',
  'cvc',
  'cvv',
  'nonce',
  'otp',
  'pass',
  'pin',
  'pwd',
  'session',
  'sid',
  'sig',
  'ssn',
  'totp',
]);

/** Names that hold one of the parts above and no secret: they say what is asked for, or how. */
const harmless: ReadonlySet<string> = new Set(['token_type', 'tokentype']);

/** Longest name that is looked at whole; of a longer one the start and the end. */
const maxName = 256;

/** Verdicts about names that came up, as the same ones do in every message. */
const known = new Map<string, boolean>();
const mostKnown = 2000;
const maxKnown = 64;

/** True for the name of a header, field or parameter whose value is masked. */
export function isSecretName(name: string): boolean {
  let isSecret = known.get(name);
  if (isSecret !== undefined) return isSecret;
  isSecret = judge(name);
  if (known.size >= mostKnown) known.clear();
  if (name.length <= maxKnown) known.set(name, isSecret);
  return isSecret;
}

function judge(given: string): boolean {
  if (harmless.has(given.toLowerCase())) return false;
  const name = given.length <= maxName ? given : given.slice(0, maxName / 2) + given.slice(-maxName / 2);
  const lower = name.toLowerCase();
  const joined = lower.replaceAll(/[^a-z0-9]/g, '');
  if (parts.some((part) => joined.includes(part))) return true;
  const apart = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
  return [...lower.split(/[^a-z0-9]+/), ...apart.split(/[^a-z0-9]+/)].some((word) => words.has(word));
}

/** Short names that are secrets as parameters of a query or form, and everyday words elsewhere. */
const parameters: ReadonlySet<string> = new Set(['code', 'key', 'state', 'hash', 'sign', 'k', 't']);

/** The same for a parameter of a query or a form. */
export function isSecretParameter(name: string): boolean {
  return parameters.has(name.toLowerCase()) || isSecretName(name);
}

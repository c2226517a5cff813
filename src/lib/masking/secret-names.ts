/** Parts of a name, without its punctuation, that make its value a secret wherever they stand. */
const part =
  /accesskey|accountkey|apikey|assertion|authcode|authenticat|authkey|authorization|bearer|cardnumber|codeverifier|connectionstring|cookie|credential|csrf|devicecode|encryptionkey|functionskey|jwt|masterkey|passcode|passphrase|passwd|password|privatekey|recoverycode|saml|secret|sessionid|sharedkey|signature|signingkey|subscriptionkey|token|verificationcode|xsrf/;

/** Words that do so where they stand alone in a name, such as `X-Auth` or `user_pin`. */
const word = /(?<![a-z0-9])(?:auth|cvc|cvv|nonce|otp|pass|pin|pwd|session|sid|sig|ssn|totp)(?![a-z0-9])/;

/** Names that hold one of the parts above and no secret: they say what is asked for, or how. */
const harmless: ReadonlySet<string> = new Set(['token_type', 'tokentype']);

/** Longest name that is looked at whole; of a longer one the start and the end. */
const maxName = 256;

const shortestWord = 3;
const punctuation = /[^a-z0-9]+/g;
const capital = /[A-Z]/g;

/** True for the name of a header, field or parameter whose value is masked. A visitor chooses how many different ones come: nothing of them is kept. */
export function isSecretName(given: string): boolean {
  if (given.length < shortestWord) return false;
  const name = given.length <= maxName ? given : given.slice(0, maxName / 2) + given.slice(-maxName / 2);
  const lower = name.toLowerCase();
  if (harmless.has(lower)) return false;
  if (part.test(lower) || word.test(lower)) return true;
  const joined = lower.replaceAll(punctuation, '');
  if (joined.length < lower.length && part.test(joined)) return true;
  return lower !== name && word.test(name.replaceAll(capital, ' $&').toLowerCase());
}

/** Short names that are secrets as parameters of a query or form, and everyday words elsewhere. */
const parameters: ReadonlySet<string> = new Set(['code', 'key', 'state', 'hash', 'sign', 'k', 't']);

/** The same for a parameter of a query or a form. */
export function isSecretParameter(name: string): boolean {
  return parameters.has(name.toLowerCase()) || isSecretName(name);
}

/**
 * The form in which e-mail addresses, and their domains, are compared: A to Z become small, and every other character must be
 * the same. The rules of Unicode would make one of two addresses, such as those with "k" and with the Kelvin sign.
 */
export function comparableEmail(address: string): string {
  return address.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The domain of an address, in the form in which domains are compared; undefined for a text that is no address. */
export function domainOf(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  return at > 0 && at < address.length - 1 ? comparableEmail(address.slice(at + 1)) : undefined;
}

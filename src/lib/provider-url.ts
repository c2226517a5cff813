/** The reason why a URL of a provider is not acceptable: what is read there decides who gets in, and must not be changed on the way. */
export function faultOfProviderUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'it is not a URL';
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere)) return 'it must begin with https://';
  const isPlain = url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  return isPlain ? undefined : 'it must have no query, fragment, user or password';
}

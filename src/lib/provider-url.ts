/** The reason why a URL of a provider is not acceptable: what is read there decides who gets in, and must not be changed on the way. */
export function faultOfProviderUrl(text: string): string | undefined {
  const url = URL.parse(text);
  const fault = faultOfSafety(url);
  if (url === null || fault !== undefined) return fault;
  const isPlain = url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  return isPlain ? undefined : 'it must have no query, fragment, user or password';
}

/** The reason why a URL that a provider names is not acceptable; it may have a query, as those of Microsoft have. */
export function faultOfNamedUrl(text: string): string | undefined {
  return faultOfSafety(URL.parse(text));
}

function faultOfSafety(url: URL | null): string | undefined {
  if (url === null) return 'it is not a URL';
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? undefined : 'it must begin with https://';
}

const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false };
/** No registry has it, so that no exception of the list is for it. */
const anyLabel = 'x--x';

/**
 * True for a name below which anybody can have names of their own, such as `co.uk` and `github.io`, and for one below which
 * every name is such a suffix, such as `kawasaki.jp`. The list is large, and loaded when it is first asked for.
 */
export async function isPublicSuffix(name: string): Promise<boolean> {
  const { getPublicSuffix } = await import('tldts');
  return [name, `${anyLabel}.${name}`].some((each) => getPublicSuffix(each, options) === each);
}

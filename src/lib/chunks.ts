/** Splits into powers of two, up to `largest`, which is one, so that lists of all lengths share a handful of prepared statements. */
export function chunks<Item>(items: readonly Item[], largest: number): readonly (readonly Item[])[] {
  const parts: (readonly Item[])[] = [];
  let size = largest;
  for (let at = 0; at < items.length; at += size) {
    while (size > items.length - at) size /= 2;
    parts.push(items.slice(at, at + size));
  }
  return parts;
}

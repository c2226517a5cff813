const longest = 60;

/** Makes names that are unique in one scope; the same documents, in the same order, get the same names. */
export class NameMaker {
  readonly #taken: Set<string>;
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  /** A name from any text; `fallback` where the text has nothing that a name may have. */
  make(text: string, fallback: string): string {
    const base = slug(text) || fallback;
    if (!this.#taken.has(base)) return this.#take(base);
    let count = this.#counts.get(base) ?? 1;
    do count += 1;
    while (this.#taken.has(`${base}-${count}`));
    this.#counts.set(base, count);
    return this.#take(`${base}-${count}`);
  }

  #take(name: string): string {
    this.#taken.add(name);
    return name;
  }
}

/** `Office (Berlin)` becomes `office-berlin`, `app.example.com:443` becomes `app.example.com`. */
function slug(text: string): string {
  return text
    .replace(/:443$/, '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .slice(0, longest)
    .replaceAll(/^[-.]+|[-.]+$/g, '');
}

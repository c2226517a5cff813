import { randomUUID } from 'node:crypto';
import { appendFile, readFile, rm } from 'node:fs/promises';

import { CommandFault } from '../exit.ts';

/** A resource as a server shows it. */
export type Document = Readonly<Record<string, unknown>> & { readonly id: string };

export interface Page {
  readonly documents: readonly Document[];
  /** Id before which the next page starts; undefined at the end. */
  readonly next?: string | undefined;
}

interface Head {
  readonly from: string;
  readonly to: string;
  readonly run: string;
}

type Line =
  | ({ readonly kind: 'head' } & Head)
  | ({ readonly kind: 'page'; readonly collection: string } & Page)
  | { readonly kind: 'made'; readonly old: string; readonly id: string };

/** File of an import's reading and of new ids, for resources that could not keep theirs; an interrupted one goes on from it. */
export class Journal {
  readonly #path: string;
  readonly #head: Head;
  readonly #pages = new Map<string, Page[]>();
  readonly #made = new Map<string, string>();

  static async open(path: string, from: string, to: string): Promise<Journal> {
    const lines = await readLines(path);
    const [head] = lines;
    if (head === undefined) {
      const fresh = { kind: 'head', from, to, run: randomUUID() } as const;
      const journal = new Journal(path, fresh, []);
      await journal.#append(fresh);
      return journal;
    }
    if (head.kind !== 'head' || head.from !== from || head.to !== to)
      throw new CommandFault(`${path} is of another import: name another file with --state, or delete it`);
    return new Journal(path, head, lines);
  }

  private constructor(path: string, head: Head, lines: readonly Line[]) {
    this.#path = path;
    this.#head = head;
    for (const line of lines) {
      if (line.kind === 'page') this.#keep(line.collection, line);
      else if (line.kind === 'made') this.#made.set(line.old, line.id);
    }
  }

  /** The same for all runs of one import, so that a repeated call creates nothing twice. */
  keyFor(id: string): string {
    return `import-${this.#head.run}-${id}`;
  }

  /** New ids by old ones. */
  get made(): ReadonlyMap<string, string> {
    return this.#made;
  }

  pagesOf(collection: string): readonly Page[] {
    return this.#pages.get(collection) ?? [];
  }

  async addPage(collection: string, page: Page): Promise<void> {
    this.#keep(collection, page);
    await this.#append({ kind: 'page', collection, ...page });
  }

  async addMade(old: string, id: string): Promise<void> {
    this.#made.set(old, id);
    await this.#append({ kind: 'made', old, id });
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  #keep(collection: string, page: Page): void {
    this.#pages.set(collection, [...(this.#pages.get(collection) ?? []), page]);
  }

  async #append(line: Line): Promise<void> {
    await appendFile(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  }
}

/** Without a line that an interruption has cut short. */
async function readLines(path: string): Promise<readonly Line[]> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw new CommandFault(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const whole = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  try {
    // Only this class writes the file.
    return whole.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
  } catch {
    throw new CommandFault(`${path} is not the state of an import: name another file with --state`);
  }
}

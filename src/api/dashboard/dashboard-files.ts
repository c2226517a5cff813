import { join } from 'node:path';

import { changedAtMs, readFileSet } from '../static/file-set.ts';
import type { FileSet, ServedFile } from '../static/file-set.ts';

const index = 'index.html';
const none: FileSet = new Map();

/** The built dashboard. It is read when it is first asked for, and again when its first page has changed. */
export class DashboardFiles {
  readonly #folder: string;
  #files: FileSet = none;
  #readAtMs: number | undefined;
  #reading: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A path without a dot is one of the pages, which all are the first page. */
  async find(path: string): Promise<ServedFile | undefined> {
    const isPage = !path.includes('.');
    if (isPage || this.#files.size === 0) await (this.#reading ??= this.#refresh());
    return this.#files.get(isPage ? index : path);
  }

  /** False until there is something to serve. */
  get isBuilt(): boolean {
    return this.#files.size > 0;
  }

  async #refresh(): Promise<void> {
    try {
      const changedMs = await changedAtMs(join(this.#folder, index));
      if (changedMs === this.#readAtMs && this.isBuilt) return;
      const files = changedMs === undefined ? none : await readFileSet(this.#folder);
      // While a build is under way, the first page may name files that are not there yet.
      this.#files = isWhole(files) ? files : none;
      this.#readAtMs = changedMs;
    } catch {
      // A folder that is being replaced cannot be read; the next call tries again.
      this.#files = none;
    } finally {
      this.#reading = undefined;
    }
  }
}

function isWhole(files: FileSet): boolean {
  const page = files.get(index)?.plain.bytes.toString() ?? '';
  const named = [...page.matchAll(/(?:src|href)="\/dashboard\/([^"?#]+)"/g)].map(([, name = '']) => name);
  return page !== '' && named.every((name) => files.has(name));
}

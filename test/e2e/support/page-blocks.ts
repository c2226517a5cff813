import { readdir, readFile } from 'node:fs/promises';

const root = new URL('../../../', import.meta.url);

/** A block of shell commands. */
interface Block {
  readonly text: string;
  /** The comment before it that says where it is run, or why tests do not run it. */
  readonly note: string;
}

interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly blocks: readonly Block[];
}

/** The README and the pages of `docs/`, in the order in which tests follow them. */
export async function readPages(): Promise<readonly Page[]> {
  const names = (await readdir(new URL('docs', root))).filter((name) => name.endsWith('.md')).toSorted();
  const paths = ['README.md', ...names.map((name) => `docs/${name}`)];
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(new URL(path, root), 'utf8');
      const found = text.matchAll(/(?:<!-- ([^\n]*) -->\n\n)?^```sh\n(.*?)^```$/gms);
      return { path, blocks: [...found].map(([, note = '', block = '']) => ({ note, text: block })) };
    }),
  );
}

import { hash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};
const compressed: ReadonlySet<string> = new Set(['.br', '.gz']);
/** Types that are compressed already. */
const dense: ReadonlySet<string> = new Set(['.png', '.woff2']);

/** One form of a file, ready to be sent. */
export interface FileForm {
  readonly encoding: 'br' | 'gzip' | undefined;
  readonly etag: string;
  readonly bytes: Buffer;
}

export interface ServedFile {
  readonly type: string;
  /** Compressed, the smallest first. */
  readonly forms: readonly FileForm[];
  readonly plain: FileForm;
}

/** The files of a folder, in memory, by their path below it: nothing outside the folder can be asked for. */
export type FileSet = ReadonlyMap<string, ServedFile>;

/** Reads all files below the folder. Symbolic links are left out. */
export async function readFileSet(folder: string): Promise<FileSet> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = new Map(await Promise.all(paths.map(async (path) => [path, await readFile(path)] as const)));
  const files = paths.filter((path) => !compressed.has(extname(path)));
  return new Map(
    await Promise.all(
      files.map(async (path) => {
        const name = relative(folder, path).split(sep).join('/');
        const made = { brotli: contents.get(`${path}.br`), gzip: contents.get(`${path}.gz`) };
        return [name, await toServedFile(name, contents.get(path) ?? Buffer.alloc(0), made)] as const;
      }),
    ),
  );
}

/** When the file was last changed; undefined without it. */
export async function changedAtMs(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

/** The smallest form that the client takes. */
export function chooseForm({ forms, plain }: ServedFile, accepted: string | undefined): FileForm {
  const words = (accepted ?? '').split(',').map((word) => word.trim().toLowerCase());
  const takes = (encoding: string) =>
    words.some((word) => {
      const [name = '', ...parameters] = word.split(';').map((part) => part.trim());
      return name === encoding && !parameters.some((each) => /^q=0(?:\.0*)?$/.test(each));
    });
  return forms.find(({ encoding }) => encoding !== undefined && takes(encoding)) ?? plain;
}

/** A file of this name with this content; forms that are at hand need not be made. */
export async function toServedFile(
  name: string,
  content: Buffer,
  made: { readonly brotli?: Buffer | undefined; readonly gzip?: Buffer | undefined } = {},
): Promise<ServedFile> {
  const extension = extname(`x${name}`);
  const zipped = made.gzip ?? (dense.has(extension) ? undefined : await compress(content, { level: 9 }));
  const tag = hash('sha256', content, 'base64url').slice(0, 22);
  const forms: readonly (FileForm | undefined)[] = [
    made.brotli && { encoding: 'br', etag: `"${tag}-br"`, bytes: made.brotli },
    zipped && zipped.length < content.length ? { encoding: 'gzip', etag: `"${tag}-gz"`, bytes: zipped } : undefined,
  ];
  return {
    type: mediaTypes[extension] ?? 'application/octet-stream',
    forms: forms.filter((form) => form !== undefined),
    plain: { encoding: undefined, etag: `"${tag}"`, bytes: content },
  };
}

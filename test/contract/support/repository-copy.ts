import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';

const root = new URL('../../../', import.meta.url).pathname;
const programs = join(root, 'node_modules/.bin');
/** Folders that are made anew, or linked. */
const left: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', 'shots']);

interface Outcome {
  readonly failed: boolean;
  readonly output: string;
}

/** A copy of this repository in a folder of its own, to work in. */
export class RepositoryCopy implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(): Promise<RepositoryCopy> {
    const folder = await newFolder();
    await cp(root, folder, { recursive: true, filter: (path) => !left.has(basename(path)) });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    return new RepositoryCopy(folder);
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.#folder, path)), { recursive: true });
    await writeFile(join(this.#folder, path), text);
  }

  /** Puts text before the first place of another one. */
  async insert(path: string, before: string, text: string): Promise<void> {
    const whole = await readFile(join(this.#folder, path), 'utf8');
    assert.ok(whole.includes(before), `${path} has no ${before}`);
    await this.write(
      path,
      whole.replace(before, () => `${text}${before}`),
    );
  }

  /** Runs a program of the packages; fails if it does. Returns what it writes. */
  async run(
    program: string,
    args: readonly string[],
    variables: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { failed, output } = await this.try(program, args, variables);
    assert.ok(!failed, `${program} ${args.join(' ')}\n${output.slice(-6000)}`);
    return output;
  }

  try(program: string, args: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    // Told to by the first, a test runner inside a test reports to the outer one instead of in words; the second would leave
    // suites to the other database.
    const { NODE_TEST_CONTEXT: _, TEST_SAMPLED: __, ...outer } = process.env;
    const env = { ...outer, PATH: `${programs}${delimiter}${outer['PATH']}`, ...variables };
    return new Promise((resolve) => {
      execFile(program, args, { cwd: this.#folder, env, maxBuffer: 2 ** 26 }, (error, out, errors) => {
        resolve({ failed: error !== null, output: `${out}${errors}` });
      });
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A folder that no other run has now. Those of earlier runs had the same path, by which Node finds the code that it has compiled. */
async function newFolder(): Promise<string> {
  for (let at = 1; ; at++) {
    const folder = join(tmpdir(), `gatehouse-copy-${process.getuid?.() ?? 0}-${at}`);
    try {
      await mkdir(folder);
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

import { spawn } from 'node:child_process';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import packageJson from '../../package.json' with { type: 'json' };
import type { Logger } from '../log.ts';

/** A folder with the sources of the dashboard in `dashboard/`, and the shell script that builds them to `dashboard/dist/`. */
interface Project {
  readonly folder: string;
  readonly script: string | undefined;
}

const scripts: Readonly<Record<string, string | undefined>> = packageJson.scripts;
const ownProject: Project = {
  folder: fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''),
  script: scripts['build:dashboard'],
};

/** The folder that the build of our own sources writes to. */
export const builtDashboard = `${ownProject.folder}/dashboard/dist`;

/** A build that has not ended by then was interrupted: the next start may begin another. */
const longestBuildMs = 600_000;

/**
 * Builds the dashboard in a child process where its sources are there and the result is missing, as in a fresh clone. A
 * build that fails costs a line in the log; everything else works without it. Returns what stops the build, if there is one.
 */
export function buildDashboard(
  log: Pick<Logger, 'info' | 'error'>,
  { folder, script }: Project = ownProject,
): Disposable | undefined {
  const sources = `${folder}/dashboard`;
  const isBuilt = existsSync(`${sources}/dist/index.html`);
  if (script === undefined || isBuilt || !existsSync(`${sources}/index.html`)) return undefined;
  const lock = takeLock(`${sources}/.building`);
  if (lock === undefined) return undefined;
  log.info('building the dashboard from its sources');
  // The script finds its programs as it would when npm runs it, also where npm is not installed.
  const command = 'PATH="$1/node_modules/.bin:$PATH" exec sh -c "$2"';
  const build = spawn('sh', ['-c', command, 'sh', folder, script], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  build.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const failed = (cause: string) => {
    log.error({ cause, said }, 'the dashboard could not be built: run "npm run build:dashboard" to see why');
  };
  build.once('error', ({ message }) => failed(message));
  build.once('close', (code, signal) => {
    lock[Symbol.dispose]();
    if (code === 0) log.info('the dashboard is built');
    else if (signal === null) failed(`it ended with ${code}`);
  });
  return {
    [Symbol.dispose]() {
      lock[Symbol.dispose]();
      build.kill();
    },
  };
}

/** Keeps processes that start together from building at once. Undefined if another one builds. */
function takeLock(path: string): Disposable | undefined {
  try {
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > longestBuildMs)
      rmSync(path, { force: true });
    writeFileSync(path, '', { flag: 'wx' });
  } catch {
    // Another process builds, or the folder cannot be written: then a build could not be, either.
    return undefined;
  }
  return { [Symbol.dispose]: () => rmSync(path, { force: true }) };
}

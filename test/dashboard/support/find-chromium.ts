import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The same engine without windows takes half the processor time. */
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const install = 'apt-get install -y --no-install-recommends';
/** Older releases have no package of the shell. */
const installCommand = `apt-get update && (${install} chromium-headless-shell || ${install} chromium)`;

/**
 * The Chromium of this machine: `TEST_CHROMIUM`, or the first of the usual names. Without one the tests fail with the
 * command that brings it; they are never left out.
 */
export function findChromium(environment: Environment): string {
  const found = environment['TEST_CHROMIUM'] ?? findOnPath(environment, names);
  if (found !== undefined) return found;
  throw new Error(
    `The tests of the dashboard need a Chromium, and none was found. Run "${installCommand}" as root, or name one in ` +
      'TEST_CHROMIUM.',
  );
}

/** Installs Debian's Chromium where there is none and this user may. */
export function installChromium(environment: Environment): void {
  if (environment['TEST_CHROMIUM'] !== undefined || findOnPath(environment, names) !== undefined) return;
  if (process.getuid?.() !== 0 || findOnPath(environment, ['apt-get']) === undefined) return;
  process.stdout.write(`> ${installCommand}\n`);
  spawnSync('sh', ['-c', installCommand], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...environment, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

function findOnPath(environment: Environment, programs: readonly string[]): string | undefined {
  const folders = (environment['PATH'] ?? '').split(delimiter);
  return programs.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

import childProcess from 'node:child_process';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { tellEnd } from './at-end.ts';
import { ignoreResets } from './ignore-resets.ts';
import { after, describe } from './light-test-hooks.ts';
import { programFile } from './program-file.ts';
import { findImportsQuickly } from './quick-imports.ts';

const load = createRequire(import.meta.url);

ignoreResets();
findImportsQuickly();
if (programFile.endsWith('.js')) startBuiltWorkers();

/**
 * Runs the test files named as arguments one after another in this process. Each is a suite, so that its hooks are its
 * own and an error while it loads is told under its name. It is loaded at once: whatever a file declares after something
 * that it shares with others has been awaited would belong to one of them.
 */
const files = process.argv.slice(2);
const end = tellEnd();
for (const file of files) {
  // oxlint-disable-next-line typescript/no-floating-promises -- the suite reports by itself
  describe(file, () => {
    try {
      load(resolve(file));
    } finally {
      // Not behind the last suite: what is open would keep the process, and with it the runner, from its end.
      if (file === files.at(-1)) after(end);
    }
  });
}

/** Lets a Gatehouse in this process have the workers that the run has built: they load in a quarter of the time. */
function startBuiltWorkers(): void {
  const source = fileURLToPath(new URL('../../src/gateway/workers/worker-main.ts', import.meta.url));
  const built = join(dirname(programFile), 'worker-main.js');
  childProcess.fork = new Proxy(childProcess.fork, {
    apply: (fork, self, [file, ...rest]) => Reflect.apply(fork, self, [file === source ? built : file, ...rest]),
  });
  syncBuiltinESMExports();
}

import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { describe } from 'node:test';

const load = createRequire(import.meta.url);

/**
 * Runs the test files named as arguments one after another in this process. Each is a suite, so that its hooks are its
 * own and an error while it loads is told under its name. It is loaded at once: whatever a file declares after something
 * that it shares with others has been awaited would belong to one of them.
 */
for (const file of process.argv.slice(2)) {
  // oxlint-disable-next-line typescript/no-floating-promises -- the suite reports by itself
  describe(file, () => {
    load(resolve(file));
  });
}

import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Runs the test files named as arguments one after another in this process. Each is a suite, so that its hooks are its
 * own and an error while it loads is told under its name.
 */
for (const file of process.argv.slice(2)) {
  // oxlint-disable-next-line typescript/no-floating-promises -- the suite reports by itself
  describe(file, async () => {
    await import(pathToFileURL(file).href);
  });
}

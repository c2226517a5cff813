import { createInterface } from 'node:readline';

import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { Publisher } from '../../src/publisher/publisher.ts';
import { resources } from '../../src/resources/index.ts';
import { openTemporaryFile } from '../../src/snapshot/temporary-file.ts';
import { openContext } from '../../src/start/open-context.ts';

/**
 * `node follower.ts URL`: follows the database at the URL as a gateway does, and keeps what one keeps, without listeners.
 * Prints `loaded`, waits for a line, and then prints `version milliseconds` each time a version is in force, by the clock.
 */
const [url = ''] = process.argv.slice(2);
process.stdout.write('loaded\n');
for await (const _ of createInterface(process.stdin)) break;

const context = await openContext(
  readConfig({}, { databaseUrl: url, role: 'gateway' }),
  createLog('error', process.stderr),
);
const onFault = (error: unknown): unknown => process.stderr.write(`${String(error)}\n`);
const { file } = openTemporaryFile(onFault);
await Publisher.start({
  store: context.store,
  compilers: resources.flatMap((resource) => resource.compilers?.(context) ?? []),
  targets: [async (update) => file.follow(update)],
  onFault,
  onPublished: (version) => {
    process.stdout.write(`${version} ${performance.timeOrigin + performance.now()}\n`);
  },
});

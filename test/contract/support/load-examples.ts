import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { MakeBody, ResourceExamples } from './examples.ts';

/** Exports of `contract-examples.ts` in the folder of a resource or module. */
interface ExampleFile {
  readonly examples?: ResourceExamples;
  /** Settings of a module, for every edge or route that takes it. */
  readonly moduleExample?: MakeBody;
}

const root = new URL('../../../', import.meta.url).pathname;
const load = createRequire(import.meta.url);
const resourceExamples = new Map<string, MakeBody>();
/** Examples by name of the module, which is the last segment of its path. */
const moduleExamples = new Map<string, MakeBody>();

for (const path of globSync('src/{resources,modules}/**/contract-examples.ts', { cwd: root })) {
  // Every such file exports one of the two; without it, the tests of its operations fail.
  const { examples = {}, moduleExample } = load(join(root, path)) as ExampleFile;
  for (const [operationId, make] of Object.entries(examples)) resourceExamples.set(operationId, make);
  const folder = path.split('/').at(-2) ?? '';
  if (moduleExample !== undefined) moduleExamples.set(folder.replaceAll('-', '_'), moduleExample);
}

export function exampleOf(operationId: string, path: string): MakeBody | undefined {
  return resourceExamples.get(operationId) ?? moduleExamples.get(path.split('/').at(-1) ?? '');
}

/** Ids of the operations of resources that have an example. */
export const exampleIds: readonly string[] = [...resourceExamples.keys()];

import { writeFileSync } from 'node:fs';

import { generatedFiles } from './generated-files.ts';

/** `npm run generate`: writes the files generated from the code, after a change of a schema or an error. */
const files = await generatedFiles();
for (const [path, text] of files) writeFileSync(new URL(`../${path}`, import.meta.url), text);
process.stdout.write(`wrote ${[...files.keys()].join(', ')}\n`);

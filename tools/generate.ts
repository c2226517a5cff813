import { writeFileSync } from 'node:fs';

import { errorPage, openApiText } from './generated-files.ts';

/** `npm run generate`: writes the files generated from the code, after a change of a schema or an error. */
writeFileSync(new URL('../openapi.json', import.meta.url), await openApiText());
writeFileSync(new URL('../docs/errors.md', import.meta.url), errorPage());
process.stdout.write('wrote openapi.json and docs/errors.md\n');

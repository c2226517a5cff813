import { writeFileSync } from 'node:fs';

import { errorPage, openApiText } from './generated-files.ts';

/** Writes the files that are made from the code: `npm run generate` after a change of a schema or an error. */
writeFileSync(new URL('../openapi.json', import.meta.url), await openApiText());
writeFileSync(new URL('../docs/errors.md', import.meta.url), errorPage());

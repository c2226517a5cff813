import { readFileSync, writeFileSync } from 'node:fs';

import { fileSchema } from '../src/api/openapi/file-schema.ts';
import { clientTypes } from './client-types.ts';
import { commandReference } from './command-reference.ts';
import { errorPage, openApiText } from './generated-files.ts';
import { withMigratingTable } from './migrating-table.ts';

/** `npm run generate`: writes the files generated from the code, after a change of a schema or an error. */
const openApi = await openApiText();
writeFileSync(new URL('../openapi.json', import.meta.url), openApi);
writeFileSync(new URL('../client/src/generated.ts', import.meta.url), clientTypes(openApi));
// The document is our own.
const schema = fileSchema(JSON.parse(openApi) as Readonly<Record<string, unknown>>);
writeFileSync(new URL('../configuration.schema.json', import.meta.url), `${JSON.stringify(schema, undefined, 2)}\n`);
writeFileSync(new URL('../docs/errors.md', import.meta.url), errorPage());
const migrating = new URL('../docs/migrating.md', import.meta.url);
writeFileSync(migrating, withMigratingTable(readFileSync(migrating, 'utf8')));
// It reads the new openapi.json.
writeFileSync(new URL('../docs/command-reference.md', import.meta.url), commandReference());
process.stdout.write(
  'wrote openapi.json, configuration.schema.json, client/src/generated.ts, docs/errors.md, docs/command-reference.md and the table of docs/migrating.md\n',
);

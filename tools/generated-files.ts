import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';

import { fileSchema } from '../src/api/openapi/file-schema.ts';
import { readConfig } from '../src/config/config.ts';
import { startApp } from '../src/start/app.ts';
import { clientTypes } from './client-types.ts';
import { commandReference } from './command-reference.ts';
import { errorPage } from './error-page.ts';
import { withMigratingTable } from './migrating-table.ts';
import { policyWords } from './policy-words.ts';
import { withWebhookTable } from './webhook-table.ts';

const root = new URL('../', import.meta.url);

/** Every file that is generated from the code, as it should be: texts by path. */
export async function generatedFiles(): Promise<ReadonlyMap<string, string>> {
  const document = await servedDocument();
  const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
  return new Map([
    ['openapi.json', toText(document)],
    ['configuration.schema.json', toText(fileSchema(document))],
    ['client/src/generated.ts', clientTypes(document)],
    ['dashboard/src/parts/policy/words.json', toText(policyWords())],
    ['docs/errors.md', errorPage(read('docs/errors.md'))],
    ['docs/command-reference.md', commandReference(document)],
    ['docs/migrating.md', withMigratingTable(read('docs/migrating.md'))],
    ['docs/webhooks.md', withWebhookTable(read('docs/webhooks.md'))],
  ]);
}

/** Returns the document that the server serves at /openapi.json. */
async function servedDocument() {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  try {
    const databaseUrl = `sqlite:${join(folder, 'empty.db')}`;
    const flags = { apiListen: '127.0.0.1:0', databaseUrl, httpsListen: 'off', agentListen: 'off' };
    await using app = await startApp(readConfig({}, flags), pino({ level: 'silent' }));
    const response = await fetch(new URL('/openapi.json', app.apiUrl));
    // The contract tests hold the document to the standard.
    return (await response.json()) as Parameters<typeof clientTypes>[0] & Parameters<typeof fileSchema>[0];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

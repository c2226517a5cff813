import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';

import { startApp } from '../src/start/app.ts';
import { readConfig } from '../src/config/config.ts';
import { errorCatalog } from './error-catalog.ts';

/** Returns the document that the server serves at /openapi.json. */
export async function openApiText(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  try {
    const databaseUrl = `sqlite:${join(folder, 'empty.db')}`;
    const flags = { apiListen: '127.0.0.1:0', databaseUrl, httpsListen: 'off', agentListen: 'off' };
    await using app = await startApp(readConfig({}, flags), pino({ level: 'silent' }));
    const response = await fetch(new URL('/openapi.json', app.apiUrl));
    return `${JSON.stringify(await response.json(), undefined, 2)}\n`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns docs/errors.md. */
export function errorPage(): string {
  const rows = errorCatalog.map(
    ({ code, status, message }) => `| ${code} | ${status} | ${message.replaceAll('|', '\\|')} |`,
  );
  return `# Errors

Every error the service can answer. The API writes the number behind \`ERR_GATEHOUSE_\` (or \`ERR_<VENDOR>_\`, see the
setting \`vendor\`) in \`error_code\`; the gateway writes it in the header \`Gatehouse-Error-Code\` too. Words in braces
are filled in. Generated from the definitions in the code by \`npm run generate\`.

| number | status | message |
|---|---|---|
${rows.join('\n')}
`;
}

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { makePair } from '../support/certificate-pair.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { exitCodes } from '../../src/remote-commands/exit.ts';
import { deriveCommands } from '../../src/remote-commands/derived/derive-commands.ts';
import { readDocument } from '../../src/remote-commands/derived/document.ts';
import { remoteCommands } from '../support/command-host.ts';
import { Gatehouse } from '../support/gatehouse.ts';

const commands = deriveCommands(readDocument());

test(
  'the example of every command of a resource reaches its operation, and works where it names nothing that exists',
  { timeout: 240_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    try {
      await using server = await Gatehouse.start(`sqlite:${join(folder, 'a.db')}`);
      const client = remoteCommands({ GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: server.token });
      const pair = makePair('example', '-subj', '/CN=app.example.com', '-addext', 'subjectAltName=DNS:app.example.com');
      const files = {
        'body.json': '[]',
        'certificate.pem': pair.certificate_pem,
        'private-key.pem': pair.private_key_pem,
        'ca.pem': new ClientAuthority('example').pem,
      };
      for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
      for (const { example } of commands) {
        const words = (example.match(/'[^']*'|\S+/g) ?? []).map((word) =>
          word === 'FILE' ? join(folder, 'body.json') : word.replaceAll("'", '').replace(/^@/, `@${folder}/`),
        );
        const { code, errors } = await client.run(words.slice(1));
        // Service users are bot users by another name, which theirs is taken by; secrets of vaults that other examples made stand in the way of a return.
        const isWhole = !/ (?:EDGE-ID|ID|IP)\b|_2tQ|#invite=| service-users create | configuration return /.test(
          example,
        );
        if (isWhole) assert.equal(code, exitCodes.done, `${example}: ${errors}`);
        // The ids are only examples; a path that there is not would be the error 20001.
        assert.ok(code === exitCodes.done || code === exitCodes.refused, `${example}: ${code} ${errors}`);
        assert.doesNotMatch(errors, /_20001, |Unknown field/, example);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

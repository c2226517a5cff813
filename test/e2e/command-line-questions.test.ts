import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { remoteCommands } from '../support/command-host.ts';
import type { CommandHost } from '../support/command-host.ts';
import { GatehouseProcess } from '../support/gatehouse-process.ts';
import { programFile } from '../support/program-file.ts';
import { newSqlite } from '../support/scratch.ts';
import { Terminal } from './support/terminal.ts';

const token = 'the-token-of-the-questions-0123456789abcd';

/** Calls that take something away, on a terminal of their own and where there is none. */
suite('questions of the command line', () => {
  let server: GatehouseProcess;
  let folder: string;
  let terminal: Terminal;
  let commands: CommandHost;
  const done = async (...args: readonly string[]) => {
    const { code, out, errors } = await commands.end(args);
    assert.equal(code, 0, errors);
    return out;
  };
  const newPolicy = async (description: string) =>
    (await done('ip-policies', 'create', '--description', description, '--query', 'id')).trim();
  const exists = async (id: string) => (await commands.end(['ip-policies', 'get', id])).code === 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    server = await GatehouseProcess.serve(newSqlite(), ['--role', 'api', '--bootstrap-token', token]);
    const env = { GATEHOUSE_URL: server.url, GATEHOUSE_TOKEN: token, HOME: folder };
    commands = remoteCommands(env);
    terminal = new Terminal(folder, { ...env, PATH: process.env['PATH'] });
    await terminal.paste(`gatehouse() { '${process.execPath}' '${programFile}' "$@"; }\n`);
  });
  after(async () => {
    await terminal[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test('a deletion on a terminal names what goes and asks, also where its output goes to a file', async () => {
    const id = await newPolicy('the office');
    const shown = await terminal.answer(`gatehouse ip-policies delete ${id} > /dev/null`, 'n');
    assert.match(
      shown,
      new RegExp(`^Delete IP policy "the office" \\(${id}\\)\\? \\[y/N\\] n\\nnothing was changed`, 'm'),
    );
    assert.ok(await exists(id));
    assert.match(await terminal.answer(`gatehouse ip-policies delete ${id}`, 'y'), /\ny?\n?Done\.\n|y\nDone\.\n/);
    assert.equal(await exists(id), false);
    const gone = await terminal.paste(`gatehouse ip-policies delete ${id}`);
    assert.match(gone, /There is no IP policy/);
    assert.doesNotMatch(gone, /y\/N/);
    const other = await newPolicy('a guest');
    assert.doesNotMatch(await terminal.paste(`gatehouse ip-policies delete ${other} --yes`), /y\/N/);
    assert.equal(await exists(other), false);
  });

  test('a revert shows in a few lines what it does, and asks; --dry-run only shows it', async () => {
    const id = await newPolicy('offices');
    const rules = Array.from({ length: 500 }, (_, at) => `10.0.${at >> 8}.${at & 255}/32`);
    const file = join(folder, 'rules.txt');
    await writeFile(file, [...rules, '!192.0.2.0/24'].join('\n'));
    await done('rules', 'load', id, file);
    const change = (await done('changes', 'list', '--limit', '1', '--query', '[0].id')).trim();
    const summary = [
      `~ ip policy "offices" (${id})`,
      '    rules: 501 rules removed (501 -> 0)',
      '      - allow 10.0.0.0/32',
    ].join('\n');
    const planned = await terminal.paste(`gatehouse changes revert ${change} --dry-run`);
    assert.ok(planned.includes(summary), planned);
    assert.match(planned, /^ {6}… and 491 more$/m);
    assert.ok(planned.split('\n').length < 20, planned);
    const asked = await terminal.answer(`gatehouse changes revert ${change}`, 'n');
    assert.ok(asked.includes(summary), asked);
    assert.match(asked, /^Apply this\? \[y\/N\] n\nnothing was changed/m);
    const count = async () => {
      const shown = await done('ip-policies', 'rules', 'list', id, '--query', '[*].id');
      return shown.split('\n').length - 1;
    };
    assert.equal(await count(), 501);
    assert.match(await terminal.answer(`gatehouse changes revert ${change}`, 'y'), /Done\.\n/);
    assert.equal(await count(), 0);
  });

  test('without a terminal nothing is asked, but a configuration that deletes needs --yes', async () => {
    const id = await newPolicy('without a terminal');
    await done('ip-policies', 'delete', id);
    const file = join(folder, 'gatehouse.yaml');
    await writeFile(file, 'ip_policies: { kept: { description: kept } }\n');
    await newPolicy('not declared');
    await done('apply', file);
    const refused = await commands.end(['apply', file, '--prune']);
    assert.equal(refused.code, 1);
    assert.match(
      refused.errors,
      /^nothing was changed: \d+ would be deleted, and nobody can be asked here\. Add --yes/m,
    );
    assert.match(await done('apply', file, '--prune', '--yes'), /[1-9] deleted\.$/m);
    assert.equal(await done('apply', file, '--prune'), 'No changes.\n');
  });
});

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { CommanderError } from 'commander';
import type { Command } from 'commander';
import * as fc from 'fast-check';

import { addCompletion } from '../../src/command-line/completion.ts';
import { addDoctor } from '../../src/command-line/doctor/doctor.ts';
import { explain } from '../../src/command-line/explain.ts';
import { addDatabaseCommand, addResourceCommand } from '../../src/command-line/host-commands.ts';
import { databaseCommands } from '../../src/host-commands/index.ts';
import { toTerminal } from '../../src/lib/terminal-text.ts';
import { resources } from '../../src/resources/index.ts';
import { remoteCommands } from '../support/command-host.ts';
import type { CommandHost } from '../support/command-host.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import { isLong } from '../support/long-form.ts';
import { sourceFiles } from './support/source-files.ts';

/** They go on until they are stopped, or ask for a secret; what they print goes the same way. */
const unending = new Set(['tail', 'login']);

const hostile = fc
  .string({
    unit: fc.constantFrom('\u001b', '\u009b', '\u009d', '\u0007', '\b', '\r', '2J', ']0;x', 'a'),
    minLength: 1,
  })
  .map((text) => `${text}\u001b[2J\u009b31m`);
const numRuns = isLong ? 100 : 1;

test('no command prints a control character of others, on a terminal or not, in any form', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-printed-'));
  try {
    const database = `sqlite:${join(folder, 'a.db')}`;
    await using server = await Gatehouse.start(database);
    const commands = allCommands({
      GATEHOUSE_URL: server.url,
      GATEHOUSE_TOKEN: server.token,
      GATEHOUSE_DATABASE_URL: database,
      HOME: folder,
      NO_COLOR: '1',
    });
    const leaves = leavesOf(commands.program);
    assert.ok(leaves.length > 100, String(leaves.length));
    const property = fc.asyncProperty(hostile, async (text) => {
      await store(server, text);
      const kong = join(folder, 'kong.yaml');
      await writeFile(
        kong,
        `services:\n  - name: ${JSON.stringify(text)}\n    url: ${JSON.stringify(text)}\nroutes:\n  - name: ${JSON.stringify(text)}\n    service: {name: none}\n`,
      );
      const printed: string[] = [];
      const run = async (words: readonly string[], isTTY: boolean) => {
        const shown = await printedBy(commands, words, isTTY);
        assert.doesNotMatch(shown, /[^\P{Cc}\n\t]/u, `${words.join(' ')} printed ${JSON.stringify(shown)}`);
        printed.push(shown);
      };
      for (const words of leaves.flatMap((command) => callsOf(command, join(folder, text)))) {
        await run(words, false);
        if (words.includes('table')) await run(words, true);
      }
      await run(['users', 'create', '--name', text, '--role', 'member'], false);
      for (const words of [['accounts', 'users'], ['restrictions', 'list'], ['export'], ['import', '--kong', kong]]) {
        await run(words, true);
        assert.ok(printed.at(-1)?.includes(String.raw`\u009b`), `${words.join(' ')} does not print the text`);
      }
    });
    await fc.assert(property, { numRuns, endOnFailure: true, includeErrorInReport: true });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('nothing prints by another way, and no file but one has control sequences', () => {
  /** Each writes by way of `toTerminal`. */
  const writers = new Set([
    'src/agent-client/output/line-output.ts',
    'src/log.ts',
    'src/gateway/workers/worker-main.ts',
  ]);
  const own = 'src/lib/terminal-text.ts';
  const files = sourceFiles();
  for (const { path, code } of files) {
    if (path === own) continue;
    assert.doesNotMatch(code, /\\u001b|\\x1b|\\u\{1b\}|\\e\[|fromCharCode\(27/i, `${path} has a control sequence`);
    assert.doesNotMatch(code, /\bconsole\./, `${path} prints by console`);
    if (writers.has(path)) continue;
    assert.doesNotMatch(code, /\bprocess\.(?:stdout|stderr)\.fd|\bnew (?:tty\.)?WriteStream|\/dev\/(?:tty|std)/, path);
    assert.doesNotMatch(code, /\bwrite(?:v)?(?:Sync)?\(\s*[12]\b|\bfd: [12]\b/, `${path} writes to a descriptor`);
  }
  const main = files.find(({ path }) => path === 'src/main.ts')?.code ?? '';
  for (const stream of ['stdout', 'stderr']) assert.ok(main.includes(`guardOutput(process.${stream})`), stream);
});

function allCommands(env: Readonly<Record<string, string>>): CommandHost {
  const commands = remoteCommands(env);
  commands.add(addDoctor);
  commands.add(addCompletion);
  for (const command of resources.flatMap(({ hostCommands = [] }) => hostCommands))
    commands.add((program, host) => addResourceCommand(program, command, host));
  for (const command of databaseCommands) commands.add((program, host) => addDatabaseCommand(program, command, host));
  return commands;
}

interface Leaf {
  readonly words: readonly string[];
  readonly command: Command;
}

function leavesOf(command: Command, words: readonly string[] = []): readonly Leaf[] {
  if (command.commands.length > 0) return command.commands.flatMap((each) => leavesOf(each, [...words, each.name()]));
  return unending.has(words[0] ?? '') ? [] : [{ words, command }];
}

/** Calls of a command, with the text wherever it takes one, in each form of output that it has. */
function callsOf({ words, command }: Leaf, text: string): readonly (readonly string[])[] {
  const args = command.registeredArguments.map(() => text);
  const flags = command.options.flatMap(({ mandatory, long, argChoices }) =>
    mandatory && long ? [long, argChoices?.[0] ?? text] : [],
  );
  const forms = command.options.find(({ long }) => long === '--output')?.argChoices ?? [];
  const call = [...words, ...args, ...flags];
  return forms.length === 0 ? [call] : forms.map((form) => [...call, '--output', form]);
}

/** All that a command prints, its fault included, as `main.ts` prints it. */
async function printedBy(commands: CommandHost, words: readonly string[], isTTY: boolean): Promise<string> {
  try {
    const { out, errors } = await commands.run(words, isTTY);
    return out + errors;
  } catch (error) {
    return error instanceof CommanderError ? '' : toTerminal(explain(error));
  }
}

/** Has the text wherever an account can have one of its own. */
async function store(server: Gatehouse, text: string): Promise<void> {
  const texts = { description: text, metadata: text };
  const create = (path: string, body: object) => server.create(path, { ...texts, ...body });
  const policy = await create('/ip_policies', {});
  await create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' });
  await create('/ip_restrictions', { type: 'api', enforced: false, ip_policy_ids: [policy.id] });
  await create('/backends/static', { address: 'app.internal:80' });
  await create('/backends/tunnel_group', { labels: { [text]: text } });
  await create('/credentials', {});
  await create('/api_keys', {});
  await server.create('/bot_users', { name: text });
}

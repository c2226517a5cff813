import { once } from 'node:events';
import { existsSync } from 'node:fs';

import { Command } from 'commander';

import { startApp } from './app.ts';
import type { App } from './app.ts';
import { describeSettings, readConfig } from './config.ts';
import type { Config } from './config.ts';
import { databaseCommands } from './host-commands/index.ts';
import { createLog } from './log.ts';
import { migrations, openContext } from './open-context.ts';
import type { HostCommand, HostOption } from './resources/host-command.ts';
import { resources } from './resources/index.ts';

const program = new Command('gatehouse')
  .description('A self-hosted edge service: a management API, and a gateway that obeys it.')
  .helpCommand(false)
  .addHelpText('after', `\nSettings, by flag or environment variable:\n${describeSettings()}`);

program
  .command('serve', { isDefault: true })
  .summary('run the service')
  .description('Runs the service.')
  .addHelpText('after', `\nSettings, by flag or environment variable:\n${describeSettings()}`)
  .allowUnknownOption()
  .allowExcessArguments()
  .action((_options, command) => serve(command.args));

for (const command of resources.flatMap(({ hostCommands = [] }) => hostCommands)) {
  addCommand(command, (config, values) => runInContext(command, config, values));
}
for (const command of databaseCommands) {
  addCommand(command, ({ databaseUrl }, values) => command.run({ url: databaseUrl, migrations }, values));
}

for (const group of program.commands.filter(({ commands }) => commands.length > 0)) {
  group.summary(group.commands.map((each) => each.name()).join(', ')).helpCommand(false);
}

await program.parseAsync().catch(fail);

async function serve(flags: readonly string[]): Promise<void> {
  const config = readConfig(process.env, flags);
  const log = createLog(config.logLevel, process.stdout);
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping');
    stopping.abort();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  try {
    await using app = await startApp(config, log, stopping.signal).catch((error: unknown) => {
      throw startFault(error, config) ?? error;
    });
    greet(app, config);
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    log.error({ err: error }, 'could not stop in order');
    process.exitCode = 1;
  }
  // Whatever still holds the process, such as a client's idle connection, is not waited for.
  process.exit();
}

/** The first lines an operator sees; the token is shown here and never again. */
function greet({ apiUrl, firstToken }: App, { role, httpsListen, tcpListenHost, tcpPorts }: Config): void {
  process.stdout.write(apiUrl === undefined ? 'Gatehouse gateway runs\n' : `Gatehouse listens on ${apiUrl}\n`);
  if (role !== 'api') {
    const https = httpsListen === undefined ? 'off' : `${httpsListen.host}:${httpsListen.port}`;
    process.stdout.write(
      `HTTPS edges: ${https}; TCP edges: ${tcpListenHost}, ports ${tcpPorts.first}-${tcpPorts.last}\n`,
    );
  }
  if (firstToken === undefined) return;
  process.stdout.write(`
First start: this is the token of the admin's API key. It is not shown again.

  ${firstToken}

Try it:

  curl -H 'Authorization: Bearer ${firstToken}' -H 'Service-Version: 2' ${apiUrl}/api_keys

`);
}

type Values = Readonly<Record<string, string>>;

/** A name of two words, `accounts create`, stands in a group. */
function addCommand(
  { name, summary, options }: Pick<HostCommand, 'name' | 'summary' | 'options'>,
  run: (config: Config, values: Values) => Promise<string>,
): void {
  const [verb = '', group] = name.split(' ').toReversed();
  const parent =
    group === undefined ? program : (program.commands.find((each) => each.name() === group) ?? program.command(group));
  const command = parent.command(verb).summary(summary).description(summary);
  const positional = options.filter(({ flag }) => flag.startsWith('<'));
  for (const { flag, description } of positional) command.argument(flag, description);
  for (const option of options.filter(({ flag }) => flag.startsWith('--'))) addOption(command, option);
  command.option('--database-url <url>', 'the database, as for the service');
  command.action(async () => {
    // An option without a value is `true` when it is given.
    const given = Object.entries(command.opts()).map(([key, value]): [string, string] => [key, String(value)]);
    const { databaseUrl, ...values } = Object.fromEntries(given);
    for (const [at, { flag }] of positional.entries()) values[flag.slice(1, -1)] = command.args[at] ?? '';
    const config = readConfig(process.env, databaseUrl === undefined ? [] : ['--database-url', databaseUrl]);
    process.stdout.write(`${await run(config, values)}\n`);
  });
}

async function runInContext(command: HostCommand, config: Config, values: Values): Promise<string> {
  const [, file] = /^sqlite:(.*)/s.exec(config.databaseUrl) ?? [];
  // A mistyped path must not make a new database, which would look like an empty one.
  if (file !== undefined && !existsSync(file)) {
    throw new Error(`there is no database at ${file}: name the one of the service with --database-url`);
  }
  const context = await openContext(config, createLog('warn', process.stderr));
  try {
    return await command.run(context, values);
  } finally {
    await context.store[Symbol.asyncDispose]();
  }
}

function addOption(command: Command, { flag, description, required, choices }: HostOption): void {
  const option = command.createOption(flag, description);
  if (choices !== undefined) option.choices(choices);
  command.addOption(required ? option.makeOptionMandatory() : option);
}

/** What an operator can do about a start that failed; undefined where its own message says it. */
function startFault(error: unknown, config: Config): Error | undefined {
  const from = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(from instanceof Error) || !('code' in from)) return undefined;
  if ('port' in from) {
    const { apiListen, httpsListen, httpListen, metricsListen } = config;
    const listeners = {
      'api-listen': apiListen,
      'https-listen': httpsListen,
      'http-listen': httpListen,
      'metrics-listen': metricsListen,
    };
    const [flag] = Object.entries(listeners).find(([, listener]) => listener?.port === from.port) ?? [];
    if (flag === undefined) return undefined;
    return new Error(`it cannot listen: choose another address with --${flag}, or free this one`, { cause: from });
  }
  const isOfFile = from.code === 'ERR_SQLITE_ERROR' || ('syscall' in from && from.syscall === 'mkdir');
  if (!isOfFile || !config.databaseUrl.startsWith('sqlite:')) return undefined;
  return new Error(
    `the database ${config.databaseUrl} cannot be opened: check --database-url and the rights on its folder`,
    {
      cause: from,
    },
  );
}

function fail(error: unknown): void {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}

/** What went wrong, and what that came from. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's own error for several failed attempts says nothing itself.
  const text =
    error.message === '' && error instanceof AggregateError ? error.errors.map(explain).join('; ') : error.message;
  return error.cause === undefined ? text : `${text} (${explain(error.cause)})`;
}

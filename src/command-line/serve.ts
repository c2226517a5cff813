import { once } from 'node:events';

import type { Command } from 'commander';

import { startApp } from '../start/app.ts';
import type { App } from '../start/app.ts';
import { inheritedSocket } from '../start/inherited-sockets.ts';
import { readConfig } from '../config/config.ts';
import type { Config, Flags } from '../config/config.ts';
import { createLog } from '../log.ts';
import { hasGateway } from '../config/roles.ts';
import { describeDatabase } from '../lib/database-url.ts';
import { explainStart } from './faults.ts';
import type { Host } from './host.ts';
import { addSettingsFlags } from './settings-flags.ts';

/** The service itself, with a flag for each setting. */
export function addServe(program: Command, host: Host): void {
  const command = program.command('serve').summary('run the service').description('Runs the service.');
  addSettingsFlags(command)
    .addHelpText('after', '\nA setting is given by its flag or its environment variable. The flag wins.')
    .action((flags: Flags) => serve(readConfig(host.env, flags), host));
}

async function serve(config: Config, host: Host): Promise<void> {
  const isQuiet = host.stdout.isTTY && config.accessLog === undefined && config.logLevel === 'info';
  // Whoever starts it on a terminal reads the greeting first; only warnings and faults are worth a line before.
  const log = createLog(isQuiet ? 'warn' : config.logLevel, host.stdout);
  const stopping = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping');
    stopping.abort();
  };
  host.once('SIGTERM', stop);
  host.once('SIGINT', stop);
  const agentSocket = inheritedSocket('agents', host.pid, host.env);
  try {
    await using app = await startApp(config, log, { signal: stopping.signal, agentSocket, isQuiet }).catch(
      (error: unknown) => {
        throw explainStart(error, config) ?? error;
      },
    );
    host.stdout.write(greeting(app, config, host.env));
    log.level = config.logLevel;
    for (const { level, message } of app.notices) log[level](message);
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    // Stopped while it waited for its database: nothing is wrong.
    if (!(error instanceof Error && error.name === 'AbortError')) {
      log.error({ err: error }, 'could not stop cleanly');
      host.exitCode = 1;
    }
  }
  // Whatever still holds the process, such as a client's idle connection, is not waited for.
  host.exit();
}

/** The first lines an operator sees; the token is shown here and never again. */
function greeting(app: App, config: Config, env: Host['env']): string {
  const { apiUrl, agents, firstToken, isNew } = app;
  const { role, httpsListen, tcpListenHost, tcpPorts, agentListen } = config;
  const withoutApi =
    role === 'agents' ? `Gatehouse serves agents on ${agentListen?.host}:${agents?.port}` : 'Gatehouse gateway runs';
  const lines = [apiUrl === undefined ? withoutApi : `Gatehouse listens on ${apiUrl}`];
  if (apiUrl !== undefined) lines.push(`Dashboard: ${apiUrl}/dashboard/`);
  if (hasGateway(config)) {
    const https = httpsListen === undefined ? 'off' : `${httpsListen.host}:${httpsListen.port}`;
    lines.push(`HTTPS edges: ${https}; TCP edges: ${tcpListenHost}, ports ${tcpPorts.first}-${tcpPorts.last}`);
    lines.push(`Agents: ${agentListen === undefined ? 'off' : `${agentListen.host}:${agents?.port}`}`);
  }
  const state = apiUrl === undefined ? '' : isNew ? ' (new)' : ' (opened)';
  lines.push(`Database: ${describeDatabase(config.databaseUrl)}${state}`);
  if (firstToken !== undefined) {
    // In a clone that npm has started, the command may be on no path.
    const command = env['npm_lifecycle_event'] === undefined ? 'gatehouse' : 'npx gatehouse';
    lines.push(`
First start: this is the token of the admin's API key. It is not shown again.

  ${firstToken}

Sign in to the dashboard with it, or with the command line, from another terminal:

  ${command} login --url ${apiUrl}
`);
  }
  return `${lines.join('\n')}\n`;
}

import type { Command } from 'commander';

import { agentVariables } from '../config/agent-variables.ts';
import { remoteVariables } from '../config/remote-variables.ts';
import { UsageFault } from '../agent-client/target.ts';
import type { TunnelKind } from '../agent-client/target.ts';
import type { Host } from './host.ts';
import type { AgentFlags } from './run-agent.ts';

interface AgentCommand {
  readonly summary: string;
  readonly target: string;
  readonly examples: readonly (readonly [string, string])[];
}

/** Commands that run our own agent. */
const commands: Readonly<Record<TunnelKind, AgentCommand>> = {
  http: {
    summary: 'give a web server behind NAT a public name',
    target: '3000, host:3000, http://host:3000 or https://host',
    examples: [
      ['gatehouse http 3000', 'a name that the server chooses'],
      ['gatehouse http 3000 --domain shop.example.com', 'this name'],
      ['gatehouse http https://intranet --request-header-add "host: intranet"', 'a server over TLS, by its own name'],
      ['gatehouse http 3000 --label app=shop', 'visitors of edges whose backend has these labels'],
      ['gatehouse http 3000 --allow-cidr 203.0.113.0/24 --compression', 'for these addresses only, compressed'],
    ],
  },
  tcp: {
    summary: 'give a TCP server behind NAT a public port',
    target: '22, host:22 or tcp://host:22',
    examples: [
      ['gatehouse tcp 22', 'a port that the server chooses'],
      ['gatehouse tcp db:5432 --remote-addr tcp.example.com:10022', 'this port'],
    ],
  },
  tls: {
    summary: 'give a TLS server behind NAT a public name; its TLS is passed on as it is',
    target: '8443, host:8443 or tls://host:8443',
    examples: [['gatehouse tls 8443 --domain shop.example.com', 'visitors find it by the name in their TLS handshake']],
  },
};

const footer = `
After "gatehouse login", server and token are known. The token of another credential (POST /credentials) is read from
${agentVariables.authtoken} or the settings file ($XDG_CONFIG_HOME or ~/.config, gatehouse/agent.json, mode 600), and never
from a flag: other users of the machine can see command lines, and shells keep them. Exit codes: 0 stopped, 1 wrong call, 3 token refused, 4 address refused,
5 name or port refused, 6 option refused, 7 tunnel stopped by the server, 8 not the right server, 9 refused otherwise.`;

export function addAgentCommands(program: Command, version: string, host: Host): void {
  // The names are those of the table.
  for (const [kind, command] of Object.entries(commands) as [TunnelKind, AgentCommand][])
    addAgentCommand(program, kind, command, version, host);
}

function addAgentCommand(
  program: Command,
  kind: TunnelKind,
  { summary, target, examples }: AgentCommand,
  version: string,
  host: Host,
): void {
  const command = program
    .command(kind)
    .summary(summary)
    .description(`Runs an agent to ${summary}.`)
    .argument('<target>', `the program that visitors reach: ${target}`);
  addTunnelOptions(command, kind);
  if (kind === 'http') addHttpOptions(command);
  addServerOptions(command);
  const shown = examples.map(([call, effect]) => `  ${call}\n      ${effect}`).join('\n');
  command.addHelpText('after', `\nExamples:\n${shown}\n${footer}`).action(async (given: string, flags: AgentFlags) => {
    const { runAgent } = await import('./run-agent.ts');
    await runAgent(kind, given, flags, version, host);
  });
}

function addTunnelOptions(command: Command, kind: TunnelKind): void {
  if (kind === 'tcp') command.option('--remote-addr <host:port>', 'the public address to ask for');
  else command.option('--domain <name>', 'public name to ask for');
  list(command, '--label <key=value>', 'serve edges whose backend has these labels, in place of a name; repeatable');
  list(command, '--allow-cidr <cidr>', 'let only these visitors in; repeatable');
  list(command, '--deny-cidr <cidr>', 'keep these visitors out; repeatable');
  const version = command
    .createOption('--proxy-protocol <version>', 'send the target the visitor’s address by the PROXY protocol')
    .choices(['1', '2']);
  command
    .addOption(version)
    .option('--pooling', 'share the name with other agents that ask for it too')
    .option('--metadata <text>', 'text that the API shows with the tunnel');
}

function addHttpOptions(command: Command): void {
  const basicAuth = `ask visitors for a name and password; lines of user:password, mode 600 (or ${agentVariables.basicAuth})`;
  list(command, '--request-header-add <name:value>', 'add a header to requests; repeatable');
  list(command, '--request-header-remove <name>', 'remove a header from requests; repeatable');
  list(command, '--response-header-add <name:value>', 'add a header to responses; repeatable');
  list(command, '--response-header-remove <name>', 'remove a header from responses; repeatable');
  const scheme = command
    .createOption('--scheme <scheme>', 'http: visitors may come without TLS, where the service listens for them')
    .choices(['https', 'http']);
  command
    .addOption(scheme)
    .option('--compression', 'compress responses')
    .option('--basic-auth-file <file>', basicAuth)
    .option('--upstream-insecure', 'accept any certificate of a target over TLS')
    .option(
      '--inspect <address>',
      `where this machine shows the last requests and replays them: a port, 127.0.0.1:PORT, [::1]:PORT or off (${agentVariables.inspect}, default: 4040 or the next free port)`,
    );
}

function addServerOptions(command: Command): void {
  const log = command.createOption('--log <form>', 'lines in place of the live view').choices(['text', 'json']);
  command
    .option(
      '--server <host:port>',
      `where the service listens for agents (${agentVariables.server}, default: 127.0.0.1:4443)`,
    )
    .option('--ca <file>', `PEM file of the authority to trust, such as GET /local_ca.pem (${agentVariables.ca})`)
    .option(
      '--fingerprint <sha256:…>',
      `the authority to trust by the SHA-256 of its certificate, in place of its file (${agentVariables.fingerprint})`,
    )
    .option('--profile <name>', `server and token of this "gatehouse login" (${remoteVariables.profile})`)
    .addOption(log);
  for (const flag of ['--authtoken', '--token'])
    command.addOption(command.createOption(`${flag} <value>`).hideHelp().argParser(refuseToken));
  for (const [flag, own] of Object.entries(otherFlags)) {
    const refuse = (): never => {
      throw new UsageFault(`${flag} is called ${own} here`);
    };
    command.addOption(command.createOption(`${flag} <value>`).hideHelp().argParser(refuse));
  }
}

/** Flags of other agents, by what they are called here. */
const otherFlags: Readonly<Record<string, string>> = {
  '--hostname': '--domain',
  '--subdomain': '--domain, with the whole name',
  '--url': '--domain, with the name alone',
  '--region': '--server, the address of your own server',
  '--auth': '--basic-auth-file',
  '--basic-auth': '--basic-auth-file',
  '--host-header': '--request-header-add "host: NAME"',
};

/** Said in place of commander's own words, which would only call the flag unknown. */
function refuseToken(): never {
  throw new UsageFault(
    `the token is not taken from a flag, because other users of the machine can see command lines and shells keep them. ` +
      `Set ${agentVariables.authtoken}, or write it into the settings file; a token that was given here should be replaced`,
  );
}

function list(command: Command, flags: string, description: string): void {
  const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [
    ...(before ?? []),
    value,
  ];
  command.option(flags, description, collect);
}

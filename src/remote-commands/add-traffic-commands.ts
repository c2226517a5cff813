import type { Command } from 'commander';

import { addGroup } from '../lib/command-groups.ts';
import type { Host } from '../command-line/host.ts';
import { exitCodeText } from './exit.ts';
import { reportFault } from './report-fault.ts';
import { addServerOptions } from './server.ts';
import { addOutputOptions } from './show-result.ts';

const end = (example: string) => `\nExample:\n  ${example}\n\n${exitCodeText}`;

/** `check-ip`, `policy check`, `rules load` and `tail`. */
export function addTrafficCommands(program: Command, host: Host): void {
  addCheckIp(program, host);
  addCheckPolicy(program, host);
  addRulesLoad(program, host);
  addTail(program, host);
}

function addCheckIp(program: Command, host: Host): void {
  const type = program
    .createOption('--type <type>', 'only the IP restrictions of this type')
    .choices(['api', 'dashboard', 'agent', 'endpoints']);
  const command = program
    .command('check-ip')
    .summary('explain what happens to an address')
    .description(
      'Tries an address against the IP restrictions of every type, or of one, or against everything that guards an edge or route: what was consulted, which rule decided, and what else a visitor must show. Nothing is changed or counted.',
    )
    .argument('<address>', 'an IPv4 or IPv6 address')
    .addOption(type)
    .option('--edge <id>', 'traffic to this edge')
    .option('--route <id>', 'traffic to this route of an HTTPS edge; with --edge, a route of that edge')
    .option('--email <address>', 'a visitor who has signed in with this verified address')
    .option('--group <names...>', 'a visitor who has signed in and is in these groups')
    .option('--path <path>', 'a request for this path; with --edge, at the route that it leads to')
    .option('--method <method>', 'a request with this method')
    .option('--header <lines...>', 'all headers of the request, each as "Name: value"')
    .option('--certificate-of <id>', 'a certificate that this authority has signed; without it, the visitor shows none')
    .option('--exit-code', 'end with 2 if the address is refused');
  addOutputOptions(addServerOptions(command))
    .addHelpText('after', end('gatehouse check-ip 203.0.113.7 --type endpoints'))
    .action((address: string, flags: object) =>
      reportFault(host, async () => (await import('./check-ip.ts')).runCheckIp(address, flags, host)),
    );
}

function addCheckPolicy(program: Command, host: Host): void {
  const policy = addGroup(program, 'policy').summary('check');
  const command = policy
    .command('check')
    .summary('check a traffic policy, and try it with a request')
    .description(
      'Checks the text of a traffic policy: a fault is told with its line and column. With --visit and --ip, it also says which rules a request meets, what each action does, and what becomes of the request. Nothing is stored or counted.',
    )
    .argument('<file>', 'file of the policy, YAML or JSON; "-" reads standard input')
    .option('--method <method>', 'method of the request; GET if it is left out')
    .option('--visit <url>', 'URL of the request; tcp:// or tls:// for a connection')
    .option('--ip <address>', 'address of the visitor')
    .option('--region <name>', 'region of the gateway to which the visitor comes')
    .option('--header <lines...>', 'all headers of the request, each as "Name: value"')
    .option('--var <pairs...>', 'variables that are set before, each as name=text')
    .option('--response-status <status>', 'status of the answer of the upstream, for on_http_response')
    .option('--response-header <lines...>', 'headers of that answer, each as "Name: value"')
    .option('--exit-code', 'end with 2 if the request is refused');
  addOutputOptions(addServerOptions(command))
    .addHelpText(
      'after',
      end('gatehouse policy check policy.yml --visit https://shop.example.com/cart --ip 203.0.113.7'),
    )
    .action((file: string, flags: object) =>
      reportFault(host, async () => (await import('./check-policy.ts')).runCheckPolicy(file, flags, host)),
    );
}

function addRulesLoad(program: Command, host: Host): void {
  const rules = addGroup(program, 'rules').summary('load');
  const command = rules
    .command('load')
    .summary('replace all rules of an IP policy with those of a file')
    .description(
      'Reads one CIDR a line ("!" before it means deny, "#" starts a comment), shows what would be added and removed, and replaces ' +
        'all rules of the policy at once. A line that is not a rule is reported with its number, and nothing is sent.',
    )
    .argument('<policy>', 'id of the IP policy')
    .argument('<file>', 'file of the rules; "-" reads standard input')
    .option('--dry-run', 'only show what would be added and removed')
    .option('-y, --yes', 'do not ask')
    .option('--allow-empty', 'remove all rules if the file has none')
    .option('--allow-lockout', 'make the change although it locks you out');
  addServerOptions(command)
    .addHelpText('after', end('gatehouse rules load ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng office.txt --dry-run'))
    .action((policy: string, file: string, flags: object) =>
      reportFault(host, async () => (await import('./load-rules.ts')).runLoadRules(policy, file, flags, host)),
    );
}

function addTail(program: Command, host: Host): void {
  const verdict = program
    .createOption('--verdict <verdict>', 'only what was decided so')
    .choices(['allowed', 'refused', 'warned']);
  const output = program.createOption('-o, --output <form>', 'form of the lines').choices(['text', 'json']);
  const command = program
    .command('tail')
    .summary('follow traffic and warnings as they happen')
    .description(
      'Follows requests and connections to the edges of the account, with what was decided about them: refused ones, and those that an ' +
        'IP restriction would refuse if it were enforced (warned). Only traffic through the process that answers.',
    )
    .option('--edge <id>', 'only traffic to this edge')
    .addOption(verdict)
    .addOption(output.default('text'));
  addServerOptions(command)
    .addHelpText('after', end('gatehouse tail --verdict refused'))
    .action((flags: object) => reportFault(host, async () => (await import('./tail.ts')).runTail(flags, host)));
}

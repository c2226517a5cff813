import type { Command } from 'commander';

import { addGroup } from '../lib/command-groups.ts';
import type { Host } from '../command-line/host.ts';
import { exitCodeText } from './exit.ts';
import { reportFault } from './report-fault.ts';
import { addOutputOptions } from './show-result.ts';
import type { OutputFlags } from './show-result.ts';

interface LoginFlags {
  readonly url?: string;
  readonly profile?: string;
}

/** `login`, `logout` and `profiles`. */
export function addProfileCommands(program: Command, host: Host): void {
  const end = (example: string) => `\nExample:\n  ${example}\n\n${exitCodeText}`;
  program
    .command('login')
    .summary('store the URL and the token of a server')
    .description(
      'Asks for the URL and the token of an API key, tries them, and keeps them in a file that only you can read. The token is ' +
        'not shown while it is typed; where no terminal is, it is the first line of standard input.',
    )
    .option('--url <url>', 'URL of the API; without it, the command asks for it')
    .option('--profile <name>', 'keep it under this name, beside others')
    .addHelpText('after', end('gatehouse login --url https://api.example.com --profile shop < token.txt'))
    .action((flags: LoginFlags) => run(host, ({ runLogin }) => runLogin(flags, host)));
  program
    .command('logout')
    .summary('delete the stored token of a server')
    .description(
      'Deletes a profile, with its token. The API key itself stays: delete it with "gatehouse api-keys delete".',
    )
    .option('--profile <name>', 'this profile instead of the current one')
    .addHelpText('after', end('gatehouse logout --profile shop'))
    .action((flags: LoginFlags) => run(host, ({ runLogout }) => runLogout(flags, host)));
  const profiles = addGroup(program, 'profiles').summary('list, use');
  addOutputOptions(profiles.command('list'))
    .description('Lists the servers that "gatehouse login" has stored, without their tokens.')
    .addHelpText('after', end('gatehouse profiles list'))
    .action((flags: OutputFlags) => run(host, ({ listProfiles }) => listProfiles(flags, host)));
  profiles
    .command('use')
    .argument('<name>', 'name of the profile')
    .description('Makes a profile the current one, which is used where none is named.')
    .addHelpText('after', end('gatehouse profiles use shop'))
    .action((name: string) => run(host, ({ useProfile }) => useProfile(name, host)));
}

type Commands = typeof import('./profile-commands.ts');

function run(host: Host, command: (commands: Commands) => Promise<void>): Promise<void> {
  return reportFault(host, async () => command(await import('./profile-commands.ts')));
}

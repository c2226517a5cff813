import type { Command } from 'commander';

import { addGroup } from '../lib/command-groups.ts';
import type { Host } from '../command-line/host.ts';
import { exitCodeText } from './exit.ts';
import { reportFault } from './report-fault.ts';
import { addServerOptions } from './server.ts';
import { addOutputOptions } from './show-result.ts';

/** `certificates list`. */
export function addCertificateCommands(program: Command, host: Host): void {
  const certificates = addGroup(program, 'certificates').summary('list');
  const command = certificates
    .command('list')
    .summary('certificates, and names without one: what is wrong and what to do')
    .description(
      'Lists the TLS certificates of the account with their ends and renewals, orders at the public authority that are in progress or have failed, and public names of HTTPS edges that have no certificate, each with what to do.',
    )
    .option('--exit-code', 'end with 2 if anything needs attention');
  addOutputOptions(addServerOptions(command))
    .addHelpText('after', `\nExample:\n  gatehouse certificates list --exit-code\n\n${exitCodeText}`)
    .action((flags: object) =>
      reportFault(host, async () => (await import('./list-certificates.ts')).runListCertificates(flags, host)),
    );
}

import type { Command } from 'commander';

import type { Host } from '../../command-line/host.ts';
import { remoteVariables } from '../../config/remote-variables.ts';
import { CommandFault } from '../exit.ts';
import { reportFault } from '../report-fault.ts';
import type { FileFlags } from './foreign/convert-file.ts';
import type { ImportFlags } from './run-import.ts';

const examples = `
Example:
  gatehouse import --from https://other.example.com
  gatehouse import --caddyfile Caddyfile > gatehouse.yaml

Exit codes: 0 all was taken, 1 wrong call, 3 refused, 4 no answer, 6 something was not taken; the report says what.`;

export function addImportCommand(program: Command, host: Host): void {
  program
    .command('import')
    .summary('import what another server has')
    .description(
      'Reads everything from another server that speaks this API and creates it here, with the same ids where they are ' +
        'free. What is there already stays as it is. An interrupted import goes on where it stopped.',
    )
    .option('--from <url>', 'URL of the API to read from')
    .option('--token <token>', `token at that server; better ${remoteVariables.fromToken}, which others cannot see`)
    .option('--vendor <word>', 'also send the version in the header of this vendor; ngrok for an account there')
    .option('--to <url>', `URL of the API to create at (${remoteVariables.url}); its token: ${remoteVariables.token}`)
    .option('--state <file>', 'file that an interrupted import goes on from', 'gatehouse-import.jsonl')
    .option('--caddyfile <file>', 'write the reverse proxies of this Caddyfile as YAML for "gatehouse apply"')
    .option('--kong <file>', 'write the routes of this declarative file of Kong as YAML for "gatehouse apply"')
    .option('--allow-lockout', 'import IP restrictions although they lock you out')
    .addHelpText('after', examples)
    .action((flags: ImportFlags & FileFlags) =>
      reportFault(host, async () => {
        const sources = [flags.from, flags.caddyfile, flags.kong].filter((each) => each !== undefined);
        if (sources.length !== 1) throw new CommandFault('give one of --from, --caddyfile and --kong to import from');
        if (flags.from === undefined) {
          const { convertFile } = await import('./foreign/convert-file.ts');
          return convertFile(flags, host);
        }
        const { runImport } = await import('./run-import.ts');
        return runImport(flags, host);
      }),
    );
}

import type { Command } from 'commander';

import type { Host } from '../command-line/host.ts';
import { exitCodeText } from './exit.ts';
import { reportFault } from './report-fault.ts';
import { addServerOptions } from './server.ts';
import type { ServerFlags } from './server.ts';

const variablesText =
  'environment variables that the files may name, with commas between them; left out: all but GATEHOUSE_*, in CI none';

/** `export`, `plan` and `apply`. */
export function addConfigurationCommands(program: Command, host: Host): void {
  addServerOptions(program.command('export'))
    .summary('write the configuration of a server as YAML')
    .description(
      'Writes policies, restrictions, backends, reserved names and edges as YAML, by name and without secrets.',
    )
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .option('--at <moment>', 'as it was at this time, or behind the change with this version')
    .addHelpText('after', `\nExample:\n  gatehouse export -o gatehouse.yaml\n\n${exitCodeText}`)
    .action((flags: ServerFlags) => run(host, ({ runExport }) => runExport(flags, host)));
  addServerOptions(program.command('plan'))
    .summary('show what files would change')
    .description('Shows the difference between files and what the server has. Changes nothing.')
    .argument('<files...>', 'YAML files, or folders of them')
    .option('--prune', 'also show what would be deleted because no file declares it')
    .option('--variables <names>', variablesText)
    .option('--exit-code', 'end with 2 if there are changes')
    .addHelpText('after', `\nExample:\n  gatehouse plan gatehouse.yaml\n\n${exitCodeText}`)
    .action((files: readonly string[], flags: ServerFlags) => run(host, ({ runPlan }) => runPlan(files, flags, host)));
  addServerOptions(program.command('apply'))
    .summary('make a server equal to files')
    .description('Makes the server equal to the files, in one transaction: all of it or nothing.')
    .argument('<files...>', 'YAML files, or folders of them')
    .option('--prune', 'delete what no file declares')
    .option('--variables <names>', variablesText)
    .option('-y, --yes', 'do not ask')
    .option('--watch', 'apply again whenever the files change')
    .option('--allow-lockout', 'make the change although it locks you out')
    .addHelpText('after', `\nExample:\n  gatehouse apply gatehouse.yaml --yes\n\n${exitCodeText}`)
    .action((files: readonly string[], flags: ServerFlags) =>
      run(host, ({ runApply }) => runApply(files, flags, host)),
    );
  addServerOptions(program.command('diff'))
    .summary('show what changed between two moments')
    .description(
      'Shows the difference between the configuration of one moment and of a later one, or of now. A moment is a time, such as 2026-11-14T10:11:14Z, or the version of a change.',
    )
    .argument('[from]', 'the earlier moment; left out: the one before the last change')
    .argument('[to]', 'the later moment; left out: now')
    .option('--exit-code', 'end with 2 if there are changes')
    .addHelpText('after', `\nExample:\n  gatehouse diff 2026-11-14T10:00:00Z\n\n${exitCodeText}`)
    .action((from: string | undefined, to: string | undefined, flags: ServerFlags) =>
      run(host, ({ runDiff }) => runDiff(from, to, flags, host)),
    );
  addServerOptions(program.command('return'))
    .summary('make a server what it was at a moment')
    .description(
      'Makes the configuration what it was at a time or behind a change, in one transaction. Shows the difference first. Keys, users, sessions and certificates stay as they are.',
    )
    .argument('<moment>', 'a time, such as 2026-11-14T10:11:14Z, or the version of a change')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'show the difference, and change nothing')
    .option('--allow-lockout', 'make the change although it locks you out')
    .addHelpText('after', `\nExample:\n  gatehouse return 2026-11-14T10:00:00Z\n\n${exitCodeText}`)
    .action((moment: string, flags: ServerFlags) => run(host, ({ runReturn }) => runReturn(moment, flags, host)));
}

type Commands = typeof import('./configuration-commands.ts');

function run(host: Host, command: (commands: Commands) => Promise<void>): Promise<void> {
  return reportFault(host, async () => command(await import('./configuration-commands.ts')));
}

import packageJson from '../package.json' with { type: 'json' };
import { explain } from './command-line/faults.ts';
import { addDatabaseCommand, addResourceCommand } from './command-line/host-commands.ts';
import { createProgram, toArguments } from './command-line/program.ts';
import { addServe } from './command-line/serve.ts';
import { databaseCommands } from './host-commands/index.ts';
import { resources } from './resources/index.ts';

const program = createProgram(packageJson.version);
addServe(program, process);
for (const command of resources.flatMap(({ hostCommands = [] }) => hostCommands)) {
  addResourceCommand(program, command, process);
}
for (const command of databaseCommands) addDatabaseCommand(program, command, process);

await program.parseAsync(toArguments(process.argv.slice(2)), { from: 'user' }).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
});

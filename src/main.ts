import packageJson from '../package.json' with { type: 'json' };
import { addCommands } from './add-commands.ts';
import { explain } from './command-line/explain.ts';
import { guardOutput } from './command-line/host.ts';
import { createProgram, toArguments } from './command-line/program.ts';

guardOutput(process.stdout);
guardOutput(process.stderr);
const words = toArguments(process.argv.slice(2));
const program = createProgram(packageJson.version);
await addCommands(program, words, packageJson.version, process);

await program.parseAsync(words, { from: 'user' }).catch((error: unknown) => {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
});

import { CommandFault } from '../exit.ts';

/** The engine's words for a stack that is used up, which the parser of YAML passes on as a fault of the file. */
const stackUsedUp = /^Maximum call stack size exceeded/;

/** Reads something that nests as deep as its author likes, and says so in words where that is too deep to be read. */
export function whileShallow<T>(source: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(source);
    throw error;
  }
}

/** Throws where one of the faults that the parser has found is that of nesting. */
export function checkNesting(source: string, faults: readonly { readonly message: string }[]): void {
  if (faults.some(({ message }) => stackUsedUp.test(message))) throw tooDeep(source);
}

function tooDeep(source: string): CommandFault {
  return new CommandFault(`${source} is nested too deep to be read: a few levels are enough`);
}

import { CommandFault } from './exit.ts';

type Step = { readonly name: string } | { readonly at: number } | { readonly pick: readonly string[] } | 'each';

const help = 'write it as name.name, [0] for one entry, [*] for each, {a,b.c} for some fields';

/**
 * The part of a value that a path names: `hostports[0]`, `[*].id`, `[*].{id,owner.id}`. What is not there is null. Names
 * only look up: nothing is evaluated.
 */
export function query(value: unknown, path: string): unknown {
  return follow(value, parse(path));
}

/** Throws a `CommandFault` for a path that is not one, so that nothing is called in vain. */
export function checkQuery(path: string): void {
  parse(path);
}

function follow(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return value ?? null;
  if (step === 'each') return Array.isArray(value) ? value.map((each) => follow(each, rest)) : null;
  if ('at' in step) return follow(Array.isArray(value) ? value.at(step.at) : null, rest);
  if ('pick' in step) return Object.fromEntries(step.pick.map((path) => [path, query(value, path)]));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const isThere = isObject && Object.hasOwn(value, step.name);
  return follow(isThere ? (value as Readonly<Record<string, unknown>>)[step.name] : null, rest);
}

function parse(path: string): readonly Step[] {
  const steps: Step[] = [];
  const pattern = /(?:^|\.)([\w-]+)|\[(-?\d{1,9})\]|(\[\*\])|(?:^|\.)\{([^{}[\]]+)\}$/gy;
  while (pattern.lastIndex < path.length) {
    const from = pattern.lastIndex;
    const found = pattern.exec(path);
    if (found === null)
      throw new CommandFault(`--query cannot be read from ${JSON.stringify(path.slice(from))}: ${help}`);
    const [, name, at, each, fields] = found;
    if (name !== undefined) steps.push({ name });
    else if (at !== undefined) steps.push({ at: Number(at) });
    else if (each !== undefined) steps.push('each');
    else if (fields !== undefined) steps.push({ pick: fields.split(',').map((field) => field.trim()) });
  }
  return steps;
}

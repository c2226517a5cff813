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

/** Why the path leads to nothing; undefined if it leads somewhere, or through a list without entries. */
export function explainMiss(value: unknown, path: string): string | undefined {
  let found: readonly unknown[] = [value];
  for (const step of parse(path)) {
    if (found.length === 0 || (typeof step === 'object' && 'pick' in step)) return undefined;
    const next = found.flatMap((each) => stepInto(each, step));
    if (next.length === 0 && !(step === 'each' && found.some(Array.isArray))) return missing(found, step);
    found = next;
  }
  return undefined;
}

function stepInto(value: unknown, step: Exclude<Step, { readonly pick: unknown }>): readonly unknown[] {
  if (step === 'each') return Array.isArray(value) ? value : [];
  if ('at' in step) return Array.isArray(value) && value.at(step.at) !== undefined ? [value.at(step.at)] : [];
  return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
}

function missing(values: readonly unknown[], step: Exclude<Step, { readonly pick: unknown }>): string {
  const list = values.find(Array.isArray);
  if (step !== 'each' && 'name' in step) {
    if (list !== undefined) return `it is a list: write [*].${step.name}, or [0].${step.name} for the first`;
    const names = [...new Set(values.filter(isObject).flatMap((each) => Object.keys(each)))];
    const known = names.length === 0 ? 'it is no object' : `there are ${names.join(', ')}`;
    return `there is no ${JSON.stringify(step.name)}; ${known}`;
  }
  if (list === undefined) return `it is no list, so that there is no ${step === 'each' ? '[*]' : `[${step.at}]`}`;
  return step === 'each' ? '' : `there is no [${step.at}]: the list has ${list.length} entries`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
  return follow(isObject(value) && Object.hasOwn(value, step.name) ? value[step.name] : null, rest);
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

import { parseCidr } from '../../../../src/lib/ip/cidr.ts';
import type { CidrFault } from '../../../../src/lib/ip/cidr.ts';

export type Action = 'allow' | 'deny';
export type Mode = 'replace' | 'add';

export interface InvalidLine {
  /** From 1 on. */
  readonly line: number;
  readonly text: string;
  readonly reason: string;
  /** Rule that the line probably means, with its mark for deny. */
  readonly suggestion: string | undefined;
}

interface Preview {
  readonly count: number;
  /** The first few, as a list writes them. */
  readonly first: readonly string[];
}

/** A pasted list beside the rules that are in force. */
export interface Comparison {
  readonly lines: number;
  readonly added: Preview;
  readonly removed: Preview;
  readonly kept: Preview;
  readonly invalid: { readonly count: number; readonly first: readonly InvalidLine[] };
  /** Lines that say the same as an earlier one; they are taken once. */
  readonly repeated: number;
  /** The whole list to be sent, one CIDR a line. */
  readonly body: string;
}

const previewed = 200;

/** Reads a list as the server does, and compares it with the rules in force. */
export function compareList(text: string, inForce: ReadonlyMap<string, Action>, mode: Mode): Comparison {
  const invalid: InvalidLine[] = [];
  const wanted = new Map<string, Action>(mode === 'add' ? inForce : []);
  const lineOf = new Map<string, number>();
  let repeated = 0;
  const lines = text.split('\n');
  for (const [index, raw] of lines.entries()) {
    const rule = (raw.split('#', 1)[0] ?? '').trim();
    if (rule === '') continue;
    const line = index + 1;
    const action: Action = rule.startsWith('!') ? 'deny' : 'allow';
    const parsed = parseCidr(action === 'deny' ? rule.slice(1).trim() : rule);
    if (!parsed.ok) {
      invalid.push({ line, text: rule, reason: reasonOf(parsed), suggestion: suggested(parsed, action) });
      continue;
    }
    const earlier = lineOf.get(parsed.canonical);
    if (earlier !== undefined && wanted.get(parsed.canonical) !== action) {
      invalid.push({ line, text: rule, reason: `Line ${earlier} says the opposite of it.`, suggestion: undefined });
      continue;
    }
    if (earlier === undefined) lineOf.set(parsed.canonical, line);
    else repeated += 1;
    wanted.set(parsed.canonical, action);
  }
  return {
    lines: text === '' ? 0 : lines.length,
    ...difference(inForce, wanted),
    invalid: { count: invalid.length, first: invalid.slice(0, previewed) },
    repeated,
  };
}

function difference(inForce: ReadonlyMap<string, Action>, wanted: ReadonlyMap<string, Action>) {
  const added: string[] = [];
  const kept: string[] = [];
  const removed: string[] = [];
  const body: string[] = [];
  for (const [cidr, action] of wanted) {
    const line = lineFor(cidr, action);
    body.push(line);
    (inForce.get(cidr) === action ? kept : added).push(line);
  }
  for (const [cidr, action] of inForce) {
    if (wanted.get(cidr) !== action) removed.push(lineFor(cidr, action));
  }
  return { added: preview(added), removed: preview(removed), kept: preview(kept), body: body.join('\n') };
}

function preview(all: readonly string[]): Preview {
  return { count: all.length, first: all.slice(0, previewed) };
}

function lineFor(cidr: string, action: Action): string {
  return action === 'deny' ? `!${cidr}` : cidr;
}

function suggested({ suggestion }: CidrFault, action: Action): string | undefined {
  return suggestion === undefined ? undefined : lineFor(suggestion, action);
}

function reasonOf({ fault, reason }: CidrFault): string {
  if (fault === 'no-mask') return 'It has no mask.';
  if (fault === 'host-bits') return 'Not the first address of its range.';
  return `It ${reason}.`;
}

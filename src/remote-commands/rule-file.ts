import { parseCidr } from '../lib/ip/cidr.ts';

export type Action = 'allow' | 'deny';

export interface FileRule {
  /** Canonical text. */
  readonly cidr: string;
  readonly action: Action;
  readonly line: number;
}

export interface RuleFile {
  readonly rules: ReadonlyMap<string, FileRule>;
  /** Lines that are no rule, each with its number and what to write. */
  readonly faults: readonly string[];
}

/** Reads one CIDR a line, as the server does, but names every fault and not only the first. */
export function parseRuleFile(text: string): RuleFile {
  const rules = new Map<string, FileRule>();
  const faults: string[] = [];
  for (const [at, content] of text.split('\n').entries()) {
    const line = at + 1;
    // A byte order mark counts as blank.
    const words = (content.split('#', 1)[0] ?? '').trim();
    if (words === '') continue;
    const isDeny = words.startsWith('!');
    const given = isDeny ? words.slice(1).trim() : words;
    const parsed = parseCidr(given);
    if (!parsed.ok) {
      const hint = parsed.suggestion === undefined ? '' : ` Did you mean ${parsed.suggestion}?`;
      faults.push(`line ${line}: ${JSON.stringify(given)} ${parsed.reason}.${hint}`);
      continue;
    }
    const earlier = rules.get(parsed.canonical);
    if (earlier !== undefined) faults.push(`line ${line}: ${parsed.canonical} is in line ${earlier.line} already.`);
    else rules.set(parsed.canonical, { cidr: parsed.canonical, action: isDeny ? 'deny' : 'allow', line });
  }
  return { rules, faults };
}

/** Text that is the same for the same network, whatever way it is written. */
export function canonicalCidr(text: string): string {
  const parsed = parseCidr(text);
  return parsed.ok ? parsed.canonical : text;
}

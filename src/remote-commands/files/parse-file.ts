import { isMap, isScalar, LineCounter, parse, parseDocument, Scalar, visit } from 'yaml';
import type { Document, YAMLMap } from 'yaml';

import { showPlace } from './entry.ts';
import type { FileEntry, Place } from './entry.ts';
import { checkNesting, whileShallow } from './nesting.ts';
import { fillVariables } from './variables.ts';
import type { Lookup } from './variables.ts';

export interface ParsedFile {
  readonly entries: readonly FileEntry[];
  /** Each with the file and the line. */
  readonly faults: readonly string[];
}

type Report = (offset: number | undefined, words: string) => void;

/** The entries of one file: sections by kind, in each of them entries by name. What is wrong is told all at once. */
export function parseFile(file: string, text: string, lookup: Lookup): ParsedFile {
  return whileShallow(file, () => readEntries(file, text, lookup));
}

function readEntries(file: string, text: string, lookup: Lookup): ParsedFile {
  const lines = new LineCounter();
  const faults: string[] = [];
  const placeAt = (offset: number | undefined): Place => ({ file, line: lines.linePos(offset ?? 0).line });
  const report: Report = (offset, words) => {
    faults.push(`${showPlace(placeAt(offset))}: ${words}`);
  };
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, prettyErrors: false });
  checkNesting(file, document.errors);
  for (const { pos, message } of document.errors) report(pos[0], message);
  // The rest of a file that is no YAML would be a guess.
  if (faults.length > 0) return { entries: [], faults };
  checkKeys(document, placeAt, report);
  fillIn(document, lookup, report);
  return { entries: entriesOf(document, placeAt, report), faults };
}

function entriesOf(
  document: Document,
  placeAt: (offset: number | undefined) => Place,
  report: Report,
): readonly FileEntry[] {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return [];
  if (!isMap(contents)) {
    report(0, 'the file is not a map of sections, such as static_backends:');
    return [];
  }
  return contents.items.flatMap(({ key, value }) => {
    const kind = keyText(key);
    if (kind === '$schema' || (isScalar(value) && value.value === null) || value === null) return [];
    if (!isMap(value)) {
      report(offsetOf(key), `${kind} is not a map of entries by their names`);
      return [];
    }
    return value.items.flatMap((pair): FileEntry[] => {
      const name = keyText(pair.key);
      const fields: unknown = isMap(pair.value) ? pair.value.toJS(document) : (scalarOf(pair.value) ?? {});
      if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
        report(offsetOf(pair.key), `${kind} "${name}" is not a map of fields`);
        return [];
      }
      return [{ kind, name, fields: withRoutes(fields), place: placeAt(offsetOf(pair.key)) }];
    });
  });
}

/** A name that stands twice in one map would leave out the first without a word. */
function checkKeys(document: Document, placeAt: (offset: number | undefined) => Place, report: Report): void {
  visit(document, {
    Map(_key, map: YAMLMap) {
      const seen = new Map<string, number | undefined>();
      for (const { key } of map.items) {
        const text = keyText(key);
        if (seen.has(text))
          report(offsetOf(key), `"${text}" is declared twice; the first time at ${showPlace(placeAt(seen.get(text)))}`);
        else seen.set(text, offsetOf(key));
      }
    },
  });
}

function fillIn(document: Document, lookup: Lookup, report: Report): void {
  visit(document, {
    Scalar(key, node) {
      if (key === 'key' || typeof node.value !== 'string' || !node.value.includes('${')) return;
      try {
        const filled = fillVariables(node.value, lookup);
        // A text without quotes may have become a number or a truth value.
        node.value = node.type === Scalar.PLAIN && /^[\w.+-]+$/.test(filled) ? (parse(filled) as unknown) : filled;
      } catch (error) {
        report(node.range?.[0], error instanceof Error ? error.message : String(error));
      }
    },
  });
}

/** A route without fields may be written without braces. */
function withRoutes(fields: object): Readonly<Record<string, unknown>> {
  const { routes, ...rest }: { readonly routes?: unknown } = fields;
  if (typeof routes !== 'object' || routes === null || Array.isArray(routes)) return { ...fields };
  const filled = Object.entries(routes).map(([match, route]: [string, unknown]) => [match, route ?? {}] as const);
  return { ...rest, routes: Object.fromEntries(filled) };
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function scalarOf(value: unknown): unknown {
  return isScalar(value) ? value.value : value;
}

function offsetOf(node: unknown): number | undefined {
  return isScalar(node) ? node.range?.[0] : undefined;
}

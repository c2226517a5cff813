import { EvaluationFault } from '../../../lib/cel/run.ts';
import { connectionHeaders, isFieldValue, isToken } from '../../../lib/http-syntax.ts';
import { parseHostPort } from '../../../lib/host-port.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Template } from '../document/template.ts';
import { invalidHeaderInPolicy, invalidHeaderValueInPolicy } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';

const longestHeaderName = 256;
const longestHeaderValue = 8192;

/** Headers that an action sends, by lower-case names. */
export type HeaderTemplates = readonly (readonly [name: string, value: Template])[];

/** Reads a map of headers that are to be sent. `refused`: names that it must not have. */
export function readHeaders(
  config: ConfigReader,
  field: string,
  most: number,
  refused: ReadonlySet<string> = new Set(),
): HeaderTemplates | undefined {
  const given = config.templateMap(field, most);
  if (given === undefined) return undefined;
  const seen = new Set<string>();
  return Array.from(given, ([name, value]) => {
    const lower = checkHeaderName(config, `${field}.${name}`, name, refused);
    if (seen.has(lower))
      throw config.fault(invalidHeaderInPolicy, `${field}.${name}`, 'it stands there twice, in different case');
    seen.add(lower);
    if (value.constant !== undefined) {
      const reason = valueFault(lower, toBytes(value.constant));
      if (reason !== undefined) throw config.fault(invalidHeaderValueInPolicy, `${field}.${name}`, reason);
    }
    return [lower, value] as const;
  });
}

/** Returns the name in lower case. */
export function checkHeaderName(
  config: ConfigReader,
  place: string,
  name: string,
  refused: ReadonlySet<string>,
): string {
  const lower = name.toLowerCase();
  const reason = !isToken(name)
    ? "a name is made of letters, digits and !#$%&'*+-.^_`|~"
    : name.length > longestHeaderName
      ? `it is longer than ${longestHeaderName} characters`
      : connectionHeaders.has(lower)
        ? 'it belongs to the connection, and the gateway sets it itself'
        : refused.has(lower)
          ? 'it cannot be changed by a policy'
          : undefined;
  if (reason !== undefined) throw config.fault(invalidHeaderInPolicy, place, reason);
  return lower;
}

/** The lines of headers that have no expressions. */
export function fixedLines(headers: HeaderTemplates): readonly string[] {
  return headers.flatMap(([name, { constant = '' }]) => [name, toBytes(constant)]);
}

/** The lines of headers, for a visit. Throws `EvaluationFault`, or what `refuse` returns for a value that could not be sent. */
export function headerLines(
  headers: HeaderTemplates,
  visit: PolicyVisit,
  refuse: (reason: string) => Error = (reason) => new EvaluationFault(reason),
): string[] {
  const lines: string[] = [];
  for (const [name, value] of headers) {
    const bytes = value.constant === undefined ? toBytes(trimBlanks(value.text(visit))) : toBytes(value.constant);
    const reason = value.constant === undefined ? valueFault(name, bytes) : undefined;
    if (reason !== undefined) throw refuse(`the value of the header ${name} cannot be sent: ${reason}`);
    lines.push(name, bytes);
  }
  return lines;
}

/** Header values are bytes, each as one character; texts are sent in UTF-8. */
export function toBytes(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

function valueFault(name: string, bytes: string): string | undefined {
  if (!isFieldValue(bytes)) return 'it has a line break or another control character, or a space at its ends';
  if (bytes.length > longestHeaderValue) return `it is longer than ${longestHeaderValue} bytes`;
  // Upstreams refuse any other Host, or take it for something else.
  if (name === 'host' && !parseHostPort(bytes).ok && !parseHostPort(`${bytes}:443`).ok)
    return 'it is not a host name or address, with or without a port';
  return undefined;
}

/** A recipient drops them anyway. */
function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

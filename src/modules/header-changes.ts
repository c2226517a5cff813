import { Type } from 'typebox';
import type { Static } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import { anyKey } from '../lib/any-key.ts';
import { parseHostPort } from '../lib/host-port.ts';
import { connectionHeaders, foldName, isFieldValue, isToken } from '../lib/http-syntax.ts';
import * as errors from './header-errors.ts';
import { moduleInput, moduleView } from './module.ts';
import type { EdgeModule } from './module.ts';
import type { HeaderList, ModulePart, RequestStep } from './step.ts';

const headerLimit = 64;
const nameLimitBytes = 256;
const valueLimitBytes = 4096;

interface HeaderChanges {
  readonly enabled: boolean;
  /** Names in lower case. */
  readonly add: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

function headerChangesInput(name: string, subject: string) {
  return moduleInput(name, {
    add: Type.Optional(
      Type.Record(anyKey, Type.String(), {
        description: `Header name to header value. These headers are injected into ${subject}.`,
        examples: [{ 'x-frontend': 'gatehouse' }],
      }),
    ),
    remove: Type.Optional(
      Type.Array(Type.String(), {
        description: `Header names removed from ${subject}.`,
        examples: [['x-internal']],
      }),
    ),
  });
}
type Input = Static<ReturnType<typeof headerChangesInput>>;

function headerChangesView(name: string, subject: string) {
  return moduleView(name, {
    add: Type.Record(anyKey, Type.String(), {
      description: `Header name to header value. These headers are injected into ${subject}.`,
    }),
    remove: Type.Array(Type.String(), { description: `Header names removed from ${subject}.` }),
  });
}

/** `title` is "Request Headers" or "Response Headers"; `act` puts the rewriter in its place. */
export function headerModule(
  name: string,
  title: string,
  subject: string,
  act: (rewrite: (headers: HeaderList) => HeaderList, changes: NonNullable<RequestStep['changes']>) => ModulePart,
): EdgeModule<Input, HeaderChanges> {
  const id = title.replace(' ', '');
  return {
    name,
    title,
    targets: ['https_route'],
    input: headerChangesInput(id, subject),
    view: headerChangesView(id, subject),
    errors: Object.values(errors),
    accept: acceptHeaderChanges,
    present: (settings) => settings,
    warnings: headerWarnings,
    build: (settings) => act(headerRewriter(settings), { adds: Object.keys(settings.add), removes: settings.remove }),
  };
}

/** The public service fills variables in; here a value is sent as it is. */
function headerWarnings({ add }: HeaderChanges): readonly string[] {
  return Object.entries(add)
    .filter(([, value]) => hasVariable(value))
    .map(([name]) => `variables in the value of ${name} are not filled in: it is sent as it is`);
}

function hasVariable(value: string): boolean {
  const at = value.indexOf('${');
  return at >= 0 && value.includes('}', at);
}

function acceptHeaderChanges({ enabled = true, add = {}, remove = [] }: Input): HeaderChanges {
  const addLower = acceptHeaders(add);
  checkCount('remove', remove.length);
  const removeLower = remove.map((name) => checkName(name, 'removed'));
  if (new Set(removeLower).size < remove.length)
    throw new UserError(errors.duplicateHeader, { name: quote(twice(remove)) });
  if (removeLower.includes('host') && !Object.hasOwn(addLower, 'host')) throw new UserError(errors.hostRemoved);
  return { enabled, add: addLower, remove: removeLower };
}

/** Checks headers that the gateway is to send. Returns them with their names in lower case. */
export function acceptHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const added = Object.entries(headers);
  checkCount('add', added.length);
  // Entries, not assignments: a header may be called __proto__.
  const lower = Object.fromEntries(added.map(([name, value]) => [checkName(name, 'added'), checkValue(name, value)]));
  if (Object.keys(lower).length < added.length)
    throw new UserError(errors.duplicateHeader, { name: quote(twice(Object.keys(headers))) });
  return lower;
}

/** Removes, then adds. An added header stands beside a client's own, so naming it in both replaces it. */
function headerRewriter({ add, remove }: HeaderChanges): (headers: HeaderList) => HeaderList {
  // A message has one Host at most: adding it replaces.
  const drop = headerDropper(Object.hasOwn(add, 'host') ? [...remove, 'host'] : remove);
  const added = Object.entries(add).flat();
  return (headers) => {
    const kept = drop(headers);
    kept.push(...added);
    return kept;
  };
}

/** Removes headers by their names, which are in lower case, also where they are spelt with other punctuation. */
export function headerDropper(names: readonly string[]): (headers: HeaderList) => string[] {
  const dropped = new Set(names.map(foldName));
  // Names that differ in punctuation alone are equally long: comparing lengths spares most headers the look-up.
  const lengths = new Set(Array.from(dropped, ({ length }) => length));
  return (headers) => {
    const kept: string[] = [];
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] ?? '';
      if (!lengths.has(name.length) || !dropped.has(foldName(name.toLowerCase())))
        kept.push(name, headers[at + 1] ?? '');
    }
    return kept;
  };
}

function checkCount(field: 'add' | 'remove', count: number): void {
  if (count > headerLimit) throw new UserError(errors.tooManyHeaders, { field, count, limit: headerLimit });
}

function checkName(name: string, verb: 'added' | 'removed'): string {
  if (name.startsWith(':'))
    throw new UserError(errors.invalidHeaderName, { name: quote(name), reason: 'it starts with ":"' });
  if (!isToken(name)) {
    throw new UserError(errors.invalidHeaderName, {
      name: quote(name),
      reason: "a name is made of letters, digits and !#$%&'*+-.^_`|~",
    });
  }
  if (name.length > nameLimitBytes) {
    throw new UserError(errors.headerNameTooLong, { name: quote(name), bytes: name.length, limit: nameLimitBytes });
  }
  const lower = name.toLowerCase();
  if (connectionHeaders.has(lower)) throw new UserError(errors.connectionHeader, { name: quote(lower), verb });
  return lower;
}

function checkValue(name: string, value: string): string {
  if (!isFieldValue(value)) {
    throw new UserError(errors.invalidHeaderValue, {
      name: quote(name),
      reason:
        'a value is printable Latin-1 text, without line breaks or other control characters, and with no space at its ends',
    });
  }
  // Upstreams refuse any other Host, or take it for something else.
  if (name.toLowerCase() === 'host' && !isHost(value)) {
    throw new UserError(errors.invalidHeaderValue, {
      name: quote(name),
      reason: `${quote(value)} is not a host name or address, with or without a port`,
    });
  }
  const bytes = Buffer.byteLength(value);
  if (bytes > valueLimitBytes)
    throw new UserError(errors.headerValueTooLong, { name: quote(name), bytes, limit: valueLimitBytes });
  return value;
}

function isHost(value: string): boolean {
  return parseHostPort(value).ok || parseHostPort(`${value}:443`).ok;
}

/** The first name that repeats an earlier one in another case. */
function twice(names: readonly string[]): string {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase())) return name;
    seen.add(name.toLowerCase());
  }
  return '';
}

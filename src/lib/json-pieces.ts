/** Members, and members of members, that one piece has at most. */
const membersAtOnce = 256;
/** Characters of texts that count as much as a member. */
const charactersOfMember = 512;

export interface JsonForm {
  /** The text of a value with few members. */
  readonly textOf: (value: unknown) => string;
  readonly keysOf: (value: object) => readonly string[];
}

const plainForm: JsonForm = { textOf: (value) => JSON.stringify(value), keysOf: Object.keys };

/** The text that `JSON.stringify` makes of plain data, in pieces: to make that of very large data at once would hold others up. */
export function* jsonPieces(value: unknown, form = plainForm): Generator<string, void> {
  if (typeof value !== 'object' || value === null || countMembers(value, 0) <= membersAtOnce) {
    yield form.textOf(value);
    return;
  }
  const isList = Array.isArray(value);
  const members = value as Readonly<Record<string, unknown>>;
  let before = isList ? '[' : '{';
  for (const key of isList ? value.keys() : form.keysOf(value)) {
    const member = members[key];
    if (member === undefined && !isList) continue;
    yield isList ? before : `${before}${JSON.stringify(key)}:`;
    yield* jsonPieces(member ?? null, form);
    before = ',';
  }
  yield isList ? ']' : '}';
}

/** Counts on from a number of members, long texts as several, and stops where that is more than few. */
function countMembers(value: object, counted: number): number {
  let count = counted + (Array.isArray(value) ? value.length : Object.keys(value).length);
  if (count > membersAtOnce) return count;
  for (const member of Object.values(value)) {
    if (count > membersAtOnce) return count;
    if (typeof member === 'string') count += Math.floor(member.length / charactersOfMember);
    else if (typeof member === 'object' && member !== null) count = countMembers(member, count);
  }
  return count;
}

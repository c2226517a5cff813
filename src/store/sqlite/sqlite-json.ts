import type { JsonSql } from '../search/condition.ts';

/** Names in a path come from the code, never from a caller. */
function at(path: readonly string[]): string {
  return `'$${path.map((name) => `."${name}"`).join('')}'`;
}

/** Members of a list or map. Nothing has none, and a value of another kind has no keys. */
const members = (value: string) => `json_each(${value}) AS member`;

export const sqliteJson: JsonSql = {
  text: (document, path) => `json_extract(${document}, ${at(path)})`,
  number: (document, path) => `json_extract(${document}, ${at(path)})`,
  isTrue: (document, path) => `(json_extract(${document}, ${at(path)}) = 1)`,
  value: (document, path) => `(${document} -> ${at(path)})`,
  textAt: (value, key) => `(SELECT member.value FROM ${members(value)} WHERE member.key = ${key})`,
  listSize: (value) => `COALESCE(json_array_length(${value}), 0)`,
  mapSize: (value) => `(SELECT COUNT(member.key) FROM ${members(value)})`,
  listHas: (value, text) => `EXISTS (SELECT 1 FROM ${members(value)} WHERE member.value = ${text})`,
  mapHas: (value, key) => `EXISTS (SELECT 1 FROM ${members(value)} WHERE member.key = ${key})`,
  isPart: (whole, part) => `(instr(${whole}, ${part}) > 0)`,
  byBytes: (text) => text,
};

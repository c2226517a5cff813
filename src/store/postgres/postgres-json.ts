import type { JsonSql } from '../search/condition.ts';

/** Names in a path come from the code, never from a caller. */
function at(path: readonly string[]): string {
  return `'{${path.join(',')}}'`;
}

function textAtPath(document: string, path: readonly string[]): string {
  return `(${document}::json #>> ${at(path)})`;
}

/** The value as it is where it has the type, else an empty one. */
function ofType(value: string, type: 'array' | 'object'): string {
  return `CASE json_typeof(${value}) WHEN '${type}' THEN ${value} ELSE '${type === 'array' ? '[]' : '{}'}'::json END`;
}

const list = (value: string) => ofType(value, 'array');
const map = (value: string) => ofType(value, 'object');

export const postgresJson: JsonSql = {
  text: textAtPath,
  number: (document, path) => `${textAtPath(document, path)}::numeric`,
  isTrue: (document, path) => `(${textAtPath(document, path)} = 'true')`,
  value: (document, path) => `(${document}::json #> ${at(path)})`,
  textAt: (value, key) => `((${map(value)}) ->> ${key})`,
  listSize: (value) => `json_array_length(${list(value)})`,
  mapSize: (value) => `(SELECT COUNT(*) FROM json_object_keys(${map(value)}))`,
  listHas: (value, text) => `(${text} IN (SELECT json_array_elements_text(${list(value)})))`,
  mapHas: (value, key) => `(${key} IN (SELECT json_object_keys(${map(value)})))`,
  isPart: (whole, part) => `(strpos(${whole}, ${part}) > 0)`,
  byBytes: (text) => `(${text} COLLATE "C")`,
};

import type { Condition, Field, JsonSql, Operator } from './condition.ts';
import type { Value } from '../database.ts';

export interface ConditionSql {
  /** Condition over the columns that `fields` are. */
  readonly sql: string;
  readonly values: readonly Value[];
  /** Columns that a query selects from the document, each once, however often the condition names it. */
  readonly fields: string;
}

/**
 * Turns a condition into SQL. Values are bound to places from `firstPlace` on, never written into the text. `document` is SQL
 * for a document without NUL, as `readableSql` makes it.
 */
export function conditionSql(condition: Condition, json: JsonSql, document: string, firstPlace: number): ConditionSql {
  const writer = new SqlWriter(json, document, firstPlace);
  const sql = writer.write(condition);
  return { sql, values: writer.values, fields: writer.fields };
}

class SqlWriter {
  readonly values: Value[] = [];
  readonly #json: JsonSql;
  readonly #document: string;
  readonly #firstPlace: number;
  /** Names of columns by their SQL. */
  readonly #columns = new Map<string, string>();

  constructor(json: JsonSql, document: string, firstPlace: number) {
    this.#json = json;
    this.#document = document;
    this.#firstPlace = firstPlace;
  }

  /** Has a column of its own where the condition reads none, because a list of columns is never empty. */
  get fields(): string {
    return ['0 AS field', ...[...this.#columns].map(([sql, name]) => `${sql} AS ${name}`)].join(', ');
  }

  write(condition: Condition): string {
    switch (condition.kind) {
      case 'constant':
        return condition.value ? 'TRUE' : 'FALSE';
      case 'all':
      case 'any':
        return `(${condition.of.map((each) => this.write(each)).join(condition.kind === 'all' ? ' AND ' : ' OR ')})`;
      case 'not':
        return `(NOT ${this.write(condition.of)})`;
      case 'isTrue':
        return `COALESCE(${this.#isTrue(condition.field)}, FALSE)`;
      case 'isUnset':
        return this.#isUnset(condition.field);
      case 'compare':
        return this.#compare(condition.field, condition.operator, condition.to);
      case 'size':
        return `(${this.#size(condition.field)} ${condition.operator} ${this.#bindNumber(condition.to)})`;
      case 'oneOf':
        return this.#oneOf(condition.field, condition.values);
      case 'includes':
        return this.#includes(condition.field, condition.text);
      default:
        return this.#partOfText(condition);
    }
  }

  #compare(field: Field, operator: Operator, to: string | number): string {
    return `COALESCE(${this.#comparable(field)} ${operator} ${this.#bound(to)}, ${operator === '<>' ? 'TRUE' : 'FALSE'})`;
  }

  #oneOf(field: Field, values: readonly (string | number)[]): string {
    if (values.length === 0) return 'FALSE';
    return `COALESCE(${this.#comparable(field)} IN (${values.map((value) => this.#bound(value)).join(', ')}), FALSE)`;
  }

  /** A text is never null; a time or a number may be. */
  #comparable(field: Field): string {
    if (field.kind === 'text') return this.#text(field);
    return field.kind === 'number' ? this.#number(field) : this.#json.byBytes(this.#nullableText(field));
  }

  #partOfText(condition: Extract<Condition, { readonly kind: 'contains' | 'startsWith' | 'endsWith' }>): string {
    const whole = this.#text(condition.field);
    const part = this.#bind(condition.text);
    if (condition.kind === 'contains') return this.#json.isPart(whole, part);
    if (condition.kind === 'startsWith') return `(substr(${whole}, 1, length(${part})) = ${part})`;
    return `(length(${whole}) >= length(${part}) AND substr(${whole}, length(${whole}) - length(${part}) + 1) = ${part})`;
  }

  #isUnset(field: Field): string {
    if (field.kind === 'text') return `(${this.#text(field)} = '')`;
    if (field.kind === 'list' || field.kind === 'map') return `(${this.#size(field)} = 0)`;
    if (field.kind === 'boolean') return `(${this.#isTrue(field)} IS NULL)`;
    return `(${field.kind === 'number' ? this.#number(field) : this.#nullableText(field)} IS NULL)`;
  }

  #includes(field: Field, text: string): string {
    const bound = this.#bind(text);
    const value = this.#value(field);
    return field.kind === 'list' ? this.#json.listHas(value, bound) : this.#json.mapHas(value, bound);
  }

  #size(field: Field): string {
    if (field.kind === 'list') return this.#json.listSize(this.#value(field));
    if (field.kind === 'map') return this.#json.mapSize(this.#value(field));
    return `length(${this.#text(field)})`;
  }

  #text(field: Field): string {
    const text = this.#json.byBytes(`COALESCE(${this.#nullableText(field)}, '')`);
    // Both databases lower only letters of ASCII here, because the text is compared by its bytes.
    return field.isLowered === true ? this.#json.byBytes(`lower(${text})`) : text;
  }

  #nullableText(field: Field): string {
    if ('sql' in field) return this.#column(field.sql);
    if ('constant' in field) return this.#bind(field.constant);
    if (field.key === undefined) return this.#column(this.#json.text(this.#document, field.path));
    return this.#json.textAt(this.#value(field), this.#bind(field.key));
  }

  #number(field: Field): string {
    return this.#column('sql' in field ? field.sql : this.#json.number(this.#document, pathOf(field)));
  }

  #isTrue(field: Field): string {
    return this.#column(this.#json.isTrue(this.#document, pathOf(field)));
  }

  /** A list or map. */
  #value(field: Field): string {
    return this.#column(this.#json.value(this.#document, pathOf(field)));
  }

  #column(sql: string): string {
    const name = this.#columns.get(sql) ?? `field${this.#columns.size}`;
    this.#columns.set(sql, name);
    return name;
  }

  #bound(value: string | number): string {
    return typeof value === 'number' ? this.#bindNumber(value) : this.#bind(value);
  }

  #bind(value: string): string {
    this.values.push(value);
    return `CAST($${this.#firstPlace + this.values.length - 1} AS TEXT)`;
  }

  #bindNumber(value: number): string {
    // As text, because a driver sends whole numbers as another type than others.
    this.values.push(String(value));
    return `CAST(CAST($${this.#firstPlace + this.values.length - 1} AS TEXT) AS NUMERIC)`;
  }
}

function pathOf(field: Field): readonly string[] {
  if (!('path' in field)) throw new Error(`a ${field.kind} is read from JSON only`);
  return field.path;
}

/**
 * The document with U+FFFD for each NUL: PostgreSQL has no texts with NUL, and functions of SQLite end at one. Pairs of
 * backslashes are put aside meanwhile, as a control character that JSON never has, because "\\u0000" is no NUL.
 */
export function readableSql(json: JsonSql, document: string): string {
  const aside = `replace(replace(replace(${document}, '\\\\', '\u0001'), '\\u0000', '\\ufffd'), '\u0001', '\\\\')`;
  return `(CASE WHEN ${json.isPart(document, `'\\u0000'`)} THEN ${aside} ELSE ${document} END)`;
}

import { isObject } from './json-value.ts';

/** A message that is well-formed JSON but not what it should be. Its text names the field and what it must be. */
export class MessageFault extends Error {
  override readonly name = 'MessageFault';
}

/**
 * Reads the fields of a message. Agents write the same name in different cases, so case does not count. What is missing or
 * null is the empty value of its type; every other value of another type is a fault.
 */
export class FieldReader {
  readonly #values = new Map<string, unknown>();
  /** Names as they were sent, by their lower case. */
  readonly #names = new Map<string, string>();
  readonly #path: string;

  constructor(object: Readonly<Record<string, unknown>>, path = '') {
    this.#path = path;
    for (const [name, value] of Object.entries(object)) {
      const key = name.toLowerCase();
      if (this.#names.has(key)) throw new MessageFault(`${path}${name.slice(0, 100)} is given twice`);
      this.#names.set(key, name);
      this.#values.set(key, value);
    }
  }

  /** The names that were sent, except these. */
  namesBeside(known: ReadonlySet<string>): readonly string[] {
    return [...this.#names].filter(([key]) => !known.has(key)).map(([, name]) => name);
  }

  raw(name: string): unknown {
    return this.#values.get(name.toLowerCase());
  }

  text(name: string, maxBytes: number): string {
    return this.textOrNull(name, maxBytes) ?? '';
  }

  textOrNull(name: string, maxBytes: number): string | undefined {
    const value = this.raw(name) ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw this.fault(name, 'must be a text');
    if (Buffer.byteLength(value) > maxBytes) throw this.fault(name, `must have at most ${maxBytes} bytes`);
    return value;
  }

  flag(name: string): boolean {
    const value = this.raw(name) ?? false;
    if (typeof value !== 'boolean') throw this.fault(name, 'must be true or false');
    return value;
  }

  number(name: string, min: number, max: number): number {
    const value = this.raw(name) ?? 0;
    if (typeof value !== 'number' || !(value >= min && value <= max))
      throw this.fault(name, `must be a number from ${min} to ${max}`);
    return value;
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.text(name, 1024);
    const found = allowed.find((each) => each === value);
    if (found === undefined) throw this.fault(name, `must be one of ${allowed.map((each) => `"${each}"`).join(', ')}`);
    return found;
  }

  texts(name: string, maxItems: number, maxBytes: number): readonly string[] {
    const values = this.list(name, maxItems);
    return values.map((value) => {
      if (typeof value !== 'string' || Buffer.byteLength(value) > maxBytes)
        throw this.fault(name, `must hold texts of at most ${maxBytes} bytes`);
      return value;
    });
  }

  list(name: string, maxItems: number): readonly unknown[] {
    const value = this.raw(name) ?? [];
    if (!Array.isArray(value)) throw this.fault(name, 'must be a list');
    if (value.length > maxItems) throw this.fault(name, `must have at most ${maxItems} items`);
    return value;
  }

  innerList(name: string, maxItems: number): readonly FieldReader[] {
    return this.list(name, maxItems).map((value) => {
      if (!isObject(value)) throw this.fault(name, 'must be a list of objects');
      return new FieldReader(value, `${this.#path}${name}.`);
    });
  }

  /** The fields of an object inside; those of an empty one if it is missing. */
  inner(name: string): FieldReader {
    return this.innerOrNull(name) ?? new FieldReader({}, `${this.#path}${name}.`);
  }

  innerOrNull(name: string): FieldReader | undefined {
    const value = this.raw(name) ?? undefined;
    if (value === undefined) return undefined;
    if (!isObject(value)) throw this.fault(name, 'must be an object');
    return new FieldReader(value, `${this.#path}${name}.`);
  }

  fault(name: string, reason: string): MessageFault {
    return new MessageFault(`${this.#path}${name} ${reason}`);
  }
}

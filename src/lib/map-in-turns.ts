import { Pace } from './pace.ts';

/** An object with a value for each key, made in slices. It has no prototype, so that any key is one like others. */
export async function objectInTurns<Value>(
  keys: Iterable<string>,
  valueOf: (key: string) => Value,
): Promise<Readonly<Record<string, Value>>> {
  const pace = new Pace();
  const made = Object.create(null) as Record<string, Value>;
  for (const key of keys) {
    made[key] = valueOf(key);
    if (pace.isDue) await pace.giveWay();
  }
  return made;
}

/** Maps in slices: there may be a hundred thousand items. */
export async function mapInTurns<From, To>(items: Iterable<From>, map: (item: From) => To): Promise<To[]> {
  const pace = new Pace();
  const mapped: To[] = [];
  for (const item of items) {
    mapped.push(map(item));
    if (pace.isDue) await pace.giveWay();
  }
  return mapped;
}

/** A promise that is kept: its value can be had at once, by `whenReady`, without the turn that `await` takes. */
export class Ready<T> implements PromiseLike<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- to be awaited like any promise is what it is for.
  then<Kept = T, Broken = never>(
    kept?: ((value: T) => Kept | PromiseLike<Kept>) | null,
    broken?: ((reason: unknown) => Broken | PromiseLike<Broken>) | null,
  ): Promise<Kept | Broken> {
    return Promise.resolve(this.value).then(kept, broken);
  }
}

/**
 * A value from memory, or the promise of one that has to be read. It is no value before it is awaited: the type checker
 * refuses to compare it or to look into it, and the linter to drop it.
 */
export type Awaitable<T> = Ready<T> | Promise<T>;

/** Calls `next` with the value: at once where it is there. */
export function whenReady<T, Result>(
  value: Awaitable<T>,
  next: (value: T) => Result | Awaitable<Result>,
): Awaitable<Result> {
  if (value instanceof Promise) return value.then(next);
  const result = next(value.value);
  return result instanceof Promise || result instanceof Ready ? result : new Ready(result);
}

/**
 * A value that is there, as the type checker sees it: nothing but something to await. When the program runs it is the
 * value itself, because a wrapper around each of them makes a call of the API a twentieth slower.
 */
interface Ready<T> {
  /** Awaiting it gives the value. It cannot be called, since the value does not have it. */
  then(kept: ((value: T) => unknown) | null | undefined, uncallable: never): never;
}

/**
 * A value from memory, or the promise of one that has to be read. It is no value before it is awaited: the type checker
 * refuses to compare it or to look into it, and the linter to drop it.
 */
export type Awaitable<T> = Ready<T> | Promise<T>;

export function ready<T>(value: T): Awaitable<T> {
  // Only the functions of this file take it for the value again.
  return value as Awaitable<T>;
}

/** Returns the value where it is there already. */
export function valueNow<T>(value: Awaitable<T>): T | undefined {
  // Made by `ready`.
  return value instanceof Promise ? undefined : (value as T);
}

/** Calls `next` with the value: at once where it is there. */
export function whenReady<T, Result>(
  value: Awaitable<T>,
  next: (value: T) => Result | Awaitable<Result>,
): Awaitable<Result> {
  // Made by `ready`, unless it is a promise; and so is what `next` returns, since a value is ready as it is.
  return value instanceof Promise ? value.then(next) : (next(value as T) as Awaitable<Result>);
}

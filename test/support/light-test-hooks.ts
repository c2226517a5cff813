import asyncHooks from 'node:async_hooks';
import type { HookCallbacks } from 'node:async_hooks';

/**
 * Loads Node's test runner so that it does not follow every promise and socket of the process to know the test that each
 * belongs to, which takes a fifth of the processor time of tests with many calls. It asks an `AsyncLocalStorage` instead,
 * which V8 carries along by itself: hooks, subtests, and errors that nobody catches belong to the same tests as before.
 */
const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = asyncHooks;
const scope = new AsyncLocalStorage<Scope>();
let newest: Scope | undefined;
let hooks: HookCallbacks | undefined;

/** What the runner makes each test of, and runs it in. */
class Scope extends AsyncResource {
  constructor(...args: ConstructorParameters<typeof AsyncResource>) {
    super(...args);
    hooks?.init?.(this.asyncId(), args[0], 0, this);
  }

  override runInAsyncScope<This, Args extends unknown[], Result>(
    run: (this: This, ...args: Args) => Result,
    self: This,
    ...args: Args
  ): Result {
    tell(this);
    // It returns to the context in which it was made, and the scope is one within that.
    return super.runInAsyncScope(() => scope.run(this, () => Reflect.apply(run, self, args)));
  }
}

function tell(begun: Scope): void {
  newest = begun;
}

/** What each test of the runner has. */
interface Running {
  readonly finished: boolean;
  readonly abortController: AbortController;
  readonly fail: (error: Error) => void;
}

/**
 * Fails the test that runs beside what the runner tells: a socket that a server has accepted may have the context of an
 * earlier test, and the runner would say so and let this one wait.
 */
function failNewest(cause: unknown): void {
  const test = newest as unknown as Running | undefined;
  if (newest === scope.getStore() || test === undefined || test.finished) return;
  test.fail(new Error('an error that nobody catches', { cause }));
  test.abortController.abort();
}

Object.assign(asyncHooks, {
  AsyncResource: Scope,
  createHook: (given: HookCallbacks) => {
    hooks = given;
    return {
      enable: () => process.on('uncaughtException', failNewest),
      disable: () => process.off('uncaughtException', failNewest),
    };
  },
  executionAsyncId: () => scope.getStore()?.asyncId() ?? 0,
});
export const { after, describe } = await import('node:test');
Object.assign(asyncHooks, { AsyncResource, createHook, executionAsyncId });

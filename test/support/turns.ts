/**
 * Runs work, and returns how many items it has handled at most between two turns of the event loop. The work calls `item`
 * for each, which returns what it is given.
 */
export async function mostInOneTurn(work: (item: <T>(value: T) => T) => Promise<unknown>): Promise<number> {
  let most = 0;
  let handled = 0;
  const turn = () => {
    handled = 0;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  try {
    await work((value) => {
      handled += 1;
      most = Math.max(most, handled);
      return value;
    });
  } finally {
    clearImmediate(immediate);
  }
  return most;
}

/**
 * Runs work, and returns how many characters of JSON are read and written at most between two turns of the event loop. The
 * clock moves so far that each step of long work is a slice.
 */
export async function mostJsonInOneTurn(work: () => Promise<unknown>): Promise<number> {
  const { parse, stringify } = JSON;
  const now = performance.now.bind(performance);
  let movedMs = 0;
  performance.now = () => now() + (movedMs += 8);
  try {
    return await mostInOneTurn((item) => {
      const count = (text: unknown) => {
        for (let left = typeof text === 'string' ? text.length : 0; left > 0; left -= characters) item(undefined);
      };
      JSON.parse = (text, reviver) => {
        count(text);
        return parse(text, reviver);
      };
      const write = (...given: readonly unknown[]) => {
        const text = Reflect.apply(stringify, JSON, given) as string;
        count(text);
        return text;
      };
      Object.assign(JSON, { stringify: write });
      return work();
    }).then((most) => most * characters);
  } finally {
    Object.assign(JSON, { parse, stringify });
    performance.now = now;
  }
}

const characters = 1_024;

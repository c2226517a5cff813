import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * The system's resolver as it is where the name servers of `*.silent.test` say nothing: a lookup keeps one of the two threads that Node
 * lets names have, and others wait for a free one in the order in which they came. All other names lead to this machine.
 */
export function silentNames() {
  const waiting: (() => void)[] = [];
  const asked: string[] = [];
  const held: (() => void)[] = [];
  let free = 2;
  const begin = (): void => {
    for (; free > 0; free--) {
      const next = waiting.shift();
      if (next === undefined) return;
      next();
    }
  };
  const end = (): void => {
    free++;
    begin();
  };
  const resolve: LookupFunction = (name, options, callback) => {
    waiting.push(() => {
      asked.push(name);
      if (name.endsWith('.silent.test'))
        held.push(() => {
          end();
          callback(Object.assign(new Error('queryA ETIMEOUT'), { code: 'EAI_AGAIN' }), []);
        });
      else
        lookup('127.0.0.1', options, (error, found, family) => {
          end();
          callback(error, found, family);
        });
    });
    begin();
  };
  return {
    lookup: resolve,
    /** Names in the order in which a thread has taken them. */
    asked,
    /** The resolver gives up those that it waits for. */
    giveUp: () => {
      for (const release of held.splice(0)) release();
    },
  };
}

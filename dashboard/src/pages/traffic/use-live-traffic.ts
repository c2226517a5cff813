import { useEffect, useRef, useState } from 'react';

import { asCallError } from '../../api/client.ts';
import type { CallError } from '../../api/client.ts';
import { listenToTraffic } from '../../api/traffic.ts';
import type { TrafficEvent } from '../../../../client/src/index.ts';

/** Events that are kept; older ones go. */
const kept = 1000;
/** How often what has come is shown. */
const showEveryMs = 250;
/** The rate is that of so many seconds. */
const rateSeconds = 10;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;

export interface LiveTraffic {
  /** Newest first. */
  readonly events: readonly TrafficEvent[];
  /** Came since the list was held. */
  readonly waiting: number;
  readonly perSecond: number;
  /** Left out by the server since the page was opened. */
  readonly dropped: number;
  readonly state: 'connecting' | 'live' | 'lost';
  /** Since when it is lost, in milliseconds since 1970. */
  readonly lostAt: number | undefined;
  readonly error: CallError | undefined;
}

const nothing: LiveTraffic = {
  events: [],
  waiting: 0,
  perSecond: 0,
  dropped: 0,
  state: 'connecting',
  lostAt: undefined,
  error: undefined,
};

/** Listens for as long as the page is open, and again when the stream was lost. While it is held, the list stays. */
export function useLiveTraffic(isHeld: boolean): LiveTraffic {
  const [shown, setShown] = useState(nothing);
  const held = useRef(isHeld);
  useEffect(() => {
    held.current = isHeld;
  }, [isHeld]);
  useEffect(() => {
    const stop = new AbortController();
    const log = new TrafficLog();
    const timer = setInterval(() => setShown((before) => log.show(before, held.current)), showEveryMs);
    void keepListening(log, stop.signal);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, []);
  return shown;
}

async function keepListening(log: TrafficLog, signal: AbortSignal): Promise<void> {
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    try {
      await listenToTraffic(signal, {
        onOpen: () => {
          pauseMs = firstPauseMs;
          log.isOpen();
        },
        onEvent: (event) => log.add(event),
        onDropped: (count) => log.addDropped(count),
      });
      log.isLost(undefined);
    } catch (error) {
      if (signal.aborted) return;
      log.isLost(error instanceof TypeError ? undefined : asCallError(error));
    }
    await pause(pauseMs, signal);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Events that have come and are not shown yet. Bounded: a flood costs no memory. */
class TrafficLog {
  #fresh: TrafficEvent[] = [];
  #waiting = 0;
  #dropped = 0;
  #seconds = new Map<number, number>();
  #state: LiveTraffic['state'] = 'connecting';
  #lostAt: number | undefined;
  #error: CallError | undefined;

  add(event: TrafficEvent): void {
    this.#fresh.push(event);
    if (this.#fresh.length > 2 * kept) this.#fresh = this.#fresh.slice(-kept);
    this.#waiting++;
    const second = Math.floor(Date.now() / 1000);
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + 1);
  }

  addDropped(count: number): void {
    this.#dropped += count;
    const second = Math.floor(Date.now() / 1000);
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + count);
  }

  isOpen(): void {
    [this.#state, this.#lostAt, this.#error] = ['live', undefined, undefined];
  }

  isLost(error: CallError | undefined): void {
    [this.#state, this.#lostAt, this.#error] = ['lost', this.#lostAt ?? Date.now(), error];
  }

  show(before: LiveTraffic, isHeld: boolean): LiveTraffic {
    const facts = {
      perSecond: this.#rate(),
      dropped: this.#dropped,
      state: this.#state,
      lostAt: this.#lostAt,
      error: this.#error,
    };
    if (isHeld) return changed(before, { ...facts, events: before.events, waiting: this.#waiting });
    const fresh = this.#fresh.splice(0).toReversed();
    this.#waiting = 0;
    const events = fresh.length === 0 ? before.events : newest([...fresh, ...before.events]);
    return changed(before, { ...facts, events, waiting: 0 });
  }

  #rate(): number {
    const now = Math.floor(Date.now() / 1000);
    let sum = 0;
    for (const [second, count] of this.#seconds) {
      if (second < now - rateSeconds) this.#seconds.delete(second);
      else if (second < now) sum += count;
    }
    return Math.round((sum / rateSeconds) * 10) / 10;
  }
}

/** Each one once, as it came last: a connection comes when it is opened and when it is closed. */
function newest(events: readonly TrafficEvent[]): readonly TrafficEvent[] {
  const seen = new Set<string>();
  return events.filter(({ id }) => !seen.has(id) && seen.add(id)).slice(0, kept);
}

/** Returns the same object where nothing is different, so that nothing is drawn. */
function changed(before: LiveTraffic, after: LiveTraffic): LiveTraffic {
  // Both have the same fields.
  const names = Object.keys(after) as (keyof LiveTraffic)[];
  return names.every((name) => before[name] === after[name]) ? before : after;
}

/** A place in the log of an account that events are read from, or among the decisions of a gateway; it sorts by version and then by position. */
export interface Place {
  readonly version: number;
  readonly position: number;
}

/** An event as it is sent. */
export interface OutgoingEvent {
  /** The same whenever it is sent, so that receivers can tell a repeated one. */
  readonly id: string;
  readonly type: string;
  /** RFC 3339. */
  readonly at: string;
  readonly accountId: string;
  /** JSON. */
  readonly body: string;
  /** JSON without what may be long; `body` where that is short. */
  readonly shortBody: string;
  /** One line for people: what happened to what. It may contain texts of strangers, but no control characters. */
  readonly title: string;
}

/** What became of an attempt. */
export type Outcome =
  /** `remark`: what people should know all the same. */
  | { readonly kind: 'sent'; readonly remark?: string }
  /** The receiver does not want this event, and would refuse it again. `isFinal`: it must not be asked again. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isFinal?: boolean }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Nothing is wrong: the share of the account is used up for so long. */
  | { readonly kind: 'later'; readonly waitMs: number; readonly reason: string };

/** Where events are sent, with its secrets. */
export type EventTarget =
  | { readonly kind: 'webhook'; readonly url: string; readonly secret: string }
  | { readonly kind: 'syslog'; readonly protocol: 'tls' | 'tcp' | 'udp'; readonly host: string; readonly port: number }
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'otlp'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly kind: 'email';
      readonly to: readonly string[];
      /** Shortest time between two messages. */
      readonly everyMs: number;
    };

interface Pace {
  /** Events that one attempt sends at most. */
  readonly most: number;
  /** Shortest time between two attempts that succeed. */
  readonly everyMs: number;
}

const together = 20;

export function paceOf(target: EventTarget): Pace {
  // People read e-mail: what happens meanwhile comes as one message.
  if (target.kind === 'email') return { most: together, everyMs: target.everyMs };
  return { most: target.kind === 'syslog' || target.kind === 'file' ? together : 1, everyMs: 0 };
}

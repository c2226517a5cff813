/** A place in the log of an account that events are read from; it sorts by version and then by position. */
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
  /** JSON. */
  readonly body: string;
}

/** What became of an attempt. */
export type Outcome =
  | { readonly kind: 'sent' }
  /** The receiver does not want this event, and would refuse it again. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Where events are sent, with its secrets. */
export interface EventTarget {
  readonly webhook: { readonly url: string; readonly secret: string };
}

import type { IpAddress } from '../../lib/ip/address.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import type { OwnRequest, RequestAnswer } from '../../modules/step.ts';
import { MadeExchange } from './made-exchange.ts';

/** Where a request of a rule goes, and on whose behalf. */
export interface OwnOrigin {
  readonly accountId: string;
  /** URL of the internal endpoint. */
  readonly endpoint: string;
  readonly source: IpAddress;
  /** The source that its visitor counts for: a proxy that names no client may forward for many. */
  readonly counted: SourceKey;
  /** Requests of rules that have led to this one, with this one. */
  readonly depth: number;
  /** Requests that rules may still make for the visitor, at all endpoints together. */
  readonly left: { requests: number };
}

/** A request that a rule makes to an internal endpoint. */
export class OwnExchange extends MadeExchange {
  readonly own: OwnOrigin;

  constructor(request: OwnRequest, own: OwnOrigin, done: (answer: RequestAnswer | Error) => void) {
    const { url, maxBytes } = request;
    const made = {
      ...request,
      target: `${url.pathname}${url.search}`,
      host: url.host,
      source: own.source,
      servername: url.protocol === 'https:' ? url.hostname : undefined,
      localPort: 0,
      keptBytes: maxBytes,
      mostBytes: maxBytes,
    };
    super(made, ({ head: { status = 502, headers = [] } = {}, body, error }) => {
      done(error ?? { status, headers, body });
    });
    this.own = own;
  }
}

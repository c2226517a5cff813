import type { Duplex } from 'node:stream';

import { KeyCounts } from '../../lib/key-counts.ts';
import type { GatewayBoundReports, GatewayBounds } from './bound.ts';

/** Counts the encoders of responses at work: each holds up to 1.2 MB, for as long as its client takes to read. */
export class ResponseEncoders {
  readonly #limits: GatewayBounds;
  readonly #reports: GatewayBoundReports;
  readonly #byAccount = new KeyCounts<string>();
  #open = 0;

  constructor(limits: GatewayBounds, reports: GatewayBoundReports) {
    this.#limits = limits;
    this.#reports = reports;
    reports.watch(
      'response_encoders',
      () => limits.responseEncoders,
      () => this.#open,
    );
  }

  /** False: the response is sent as it is. */
  mayOpen(accountId: string): boolean {
    const { responseEncoders } = this.#limits;
    // Clients of one account that read slowly must not turn compression off for the others.
    const accountLimit = Math.ceil(responseEncoders / 4);
    if (this.#open < responseEncoders && this.#byAccount.of(accountId) < accountLimit) return true;
    this.#reports.refused('response_encoders', { accountId });
    return false;
  }

  /** Counts an encoder until it closes. */
  opened(accountId: string, encoder: Duplex): void {
    this.#change(accountId, 1);
    encoder.once('close', () => {
      this.#change(accountId, -1);
    });
  }

  #change(accountId: string, by: 1 | -1): void {
    this.#open += by;
    this.#byAccount.add(accountId, by);
  }
}

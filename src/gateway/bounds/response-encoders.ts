import type { Duplex } from 'node:stream';

import { AccountShares } from './account-shares.ts';
import { limitOf } from './bound.ts';
import type { GatewayBoundReports, GatewayBounds } from './bound.ts';

/**
 * Counts the encoders of responses at work: each holds up to 1.2 MB, for as long as its client takes to read. Clients of one account that
 * read slowly must not turn compression off for the others.
 */
export class ResponseEncoders {
  readonly #reports: GatewayBoundReports;
  readonly #shares: AccountShares;

  constructor(limits: GatewayBounds, reports: GatewayBoundReports) {
    this.#reports = reports;
    this.#shares = new AccountShares(limitOf(limits, 'responseEncoders'));
    reports.watch('response_encoders', limitOf(limits, 'responseEncoders'), () => this.#shares.used);
  }

  /** False: the response is sent as it is. */
  mayOpen(accountId: string): boolean {
    if (this.#shares.mayTake(accountId, 1)) return true;
    this.#reports.refused('response_encoders', { accountId });
    return false;
  }

  /** Counts an encoder until it closes. */
  opened(accountId: string, encoder: Duplex): void {
    this.#shares.take(accountId, 1);
    encoder.once('close', () => {
      this.#shares.take(accountId, -1);
    });
  }
}

import type { Transform } from 'node:stream';

import type { GatewayBoundReports, GatewayBounds } from './bound.ts';

/** Counts the encoders of responses at work: each holds up to 1.2 MB, for as long as its client takes to read. */
export class ResponseEncoders {
  readonly #limit: number;
  readonly #accountLimit: number;
  readonly #reports: GatewayBoundReports;
  readonly #byAccount = new Map<string, number>();
  #open = 0;

  constructor({ responseEncoders }: GatewayBounds, reports: GatewayBoundReports) {
    this.#limit = responseEncoders;
    // Clients of one account that read slowly must not turn compression off for the others.
    this.#accountLimit = Math.ceil(responseEncoders / 4);
    this.#reports = reports;
    reports.watch('response_encoders', responseEncoders, () => this.#open);
  }

  /** False: the response is sent as it is. */
  mayOpen(accountId: string): boolean {
    if (this.#open < this.#limit && (this.#byAccount.get(accountId) ?? 0) < this.#accountLimit) return true;
    this.#reports.refused('response_encoders', { accountId });
    return false;
  }

  /** Counts an encoder until it closes. */
  opened(accountId: string, encoder: Transform): void {
    this.#change(accountId, 1);
    encoder.once('close', () => {
      this.#change(accountId, -1);
    });
  }

  #change(accountId: string, by: 1 | -1): void {
    const count = (this.#byAccount.get(accountId) ?? 0) + by;
    this.#open += by;
    if (count === 0) this.#byAccount.delete(accountId);
    else this.#byAccount.set(accountId, count);
  }
}

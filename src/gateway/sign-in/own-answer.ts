/** An answer that the gateway gives itself, which is no error. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Thrown in place of deciding: `make` makes the answer, or has the request decided on again. */
export class OwnAnswer extends Error {
  override readonly name = 'OwnAnswer';
  readonly make: () => Promise<Answer | 'again'>;

  constructor(make: () => Promise<Answer | 'again'>) {
    super('answered by the gateway');
    this.make = make;
  }
}

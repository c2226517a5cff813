/** A text that is no expression, or one that is not offered. `at` is the place of the fault, counted from 1. */
export class ExpressionFault extends Error {
  override readonly name = 'ExpressionFault';
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

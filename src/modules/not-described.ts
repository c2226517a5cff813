/** Thrown where a step asks for something that is not known of a described visitor. */
export class NotDescribed extends Error {
  override readonly name = 'NotDescribed';

  /** `what`: in words, as in "it depends on the body of the request". */
  constructor(what = 'something that is not described') {
    super(what);
  }
}

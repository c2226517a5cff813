import { UserError } from '../errors/user-error.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';

/** An attempt failed, in words for whoever runs the installation. */
export class OrderFault extends Error {
  override readonly name = 'OrderFault';
  readonly code: number;
  /** The authority asks to be left alone for so long; 0 where it does not. */
  readonly askedWaitMs: number;

  constructor(definition: ErrorDefinition, values: Readonly<Record<string, string | number>>, askedWaitMs = 0) {
    super(new UserError(definition, values).message);
    this.code = definition.code;
    this.askedWaitMs = askedWaitMs;
  }
}

/** The authority says that the account is unknown or may not do this; the message has its words. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError';
}

/** The authority failed by itself, which some do for an account that they do not know. */
export class AuthorityFailure extends OrderFault {}

/** The order that was under way cannot come to an end any more. Another one counts against the bounds, like any. */
export class OrderGoneError extends Error {
  override readonly name = 'OrderGoneError';
}

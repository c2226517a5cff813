import type { Account } from './account.ts';

/** A body that makes an operation do something, with all that it names made in the account first. */
export type MakeBody = (account: Account) => unknown;

/** The examples of a resource, by operation id; one for each operation that takes a body. */
export type ResourceExamples = Readonly<Record<string, MakeBody>>;

let counter = 0;

/** A number that no other example has. */
export function unique(): number {
  return (counter += 1);
}

export function newDescription(): { readonly description: string } {
  return { description: `changed ${unique()}` };
}

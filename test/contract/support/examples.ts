import type { Account } from './account.ts';

/** Makes a body for an operation, and first the resources in the account that it names. */
export type MakeBody = (account: Account) => unknown;

/** The examples of a resource, by operation id; one for each operation that takes a body. */
export type ResourceExamples = Readonly<Record<string, MakeBody>>;

let counter = 0;

/** Returns a number that no other example has. */
export function unique(): number {
  return (counter += 1);
}

export function newDescription(): { readonly description: string } {
  return { description: `changed ${unique()}` };
}

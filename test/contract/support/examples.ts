/** Creates a resource of the collection at a path, with the example of its body. */
export interface ExampleMaker {
  make(path: string): Promise<{ readonly id: string }>;
}

/** Makes a body for an operation, and first the resources in the account that it names. */
export type MakeBody = (account: ExampleMaker) => unknown;

/** The examples of a resource, by operation id; one for each operation that takes a body. */
export type ResourceExamples = Readonly<Record<string, MakeBody>>;

/** Id of the request that each inspection of an example has recorded. */
export const recordedId = 'op_2tQzYDLwIVU45s8sSMNpRfQp1Ng';

let counter = 0;

/** Returns a number that no other example has. */
export function unique(): number {
  return (counter += 1);
}

export function newDescription(): { readonly description: string } {
  return { description: `changed ${unique()}` };
}

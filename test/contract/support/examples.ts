/** Creates a resource of the collection at a path, with the example of its body. */
export interface ExampleMaker {
  make(path: string): Promise<{ readonly id: string }>;
}

/** A body that makes an operation do something, with all that it names made in the account first. */
export type MakeBody = (account: ExampleMaker) => unknown;

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

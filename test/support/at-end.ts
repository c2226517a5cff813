/** Work for the end of a process of tests: what its files share has no file that would end it. */
let atEnd: (() => Promise<unknown>)[] | undefined;

/** True in a process that runs files in turn, which tells when all have ended. */
export function isEndTold(): boolean {
  return atEnd !== undefined;
}

export function whenAllHaveEnded(work: () => Promise<unknown>): void {
  atEnd?.push(work);
}

/** For the process: what it returns ends everything. */
export function tellEnd(): () => Promise<void> {
  const told = (atEnd ??= []);
  return async () => {
    for (const work of told.splice(0)) await work();
  };
}

let name = 'local';

/** Name of the region of this process, as rules of policies read it. */
export function regionName(): string {
  return name;
}

/** Gives the region of this process its name. */
export function useRegion(given: string): void {
  name = given;
}

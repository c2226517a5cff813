/** An entry of a configuration, with the place where a file declares it. */
export interface FileEntry {
  readonly kind: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly place: Place;
}

export interface Place {
  readonly file: string;
  readonly line: number;
}

export function showPlace({ file, line }: Place): string {
  return `${file}:${line}`;
}

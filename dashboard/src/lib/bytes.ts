const encoder = new TextEncoder();

/** Length in UTF-8, in which the API counts. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/** Such as "1.9 MB"; powers of 1000. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

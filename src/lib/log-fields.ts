/** Names of fields in the log, by their names in the code. */
const names = new Map<string, string>();

/** Fields as they stand in every log line: `edge_id` for `edgeId`, times in milliseconds with three decimals. */
export function logFields(fields: object): Readonly<Record<string, unknown>> {
  const named: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const written = names.get(name) ?? remember(name);
    named[written] = typeof value === 'number' && written.endsWith('_ms') ? Math.round(value * 1000) / 1000 : value;
  }
  return named;
}

function remember(name: string): string {
  const written = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  names.set(name, written);
  return written;
}

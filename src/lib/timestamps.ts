const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** Milliseconds of a time in RFC 3339 and UTC, rounded down to seconds; undefined for any other text. */
export function parseTimestamp(text: string): number | undefined {
  const [, seconds] = form.exec(text) ?? [];
  const ms = seconds === undefined ? Number.NaN : Date.parse(`${seconds}Z`);
  // The parser moves days that do not exist, such as February 30, into the next month.
  const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(`${seconds}.`);
  return isReal ? ms : undefined;
}

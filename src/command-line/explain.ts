/** One line about an error, with its causes behind it, as far as its own text does not have their words. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's own error for several failed attempts says nothing itself.
  const text =
    error.message === '' && error instanceof AggregateError ? error.errors.map(explain).join('; ') : error.message;
  const cause = error.cause === undefined ? '' : explain(error.cause);
  return text.includes(cause) ? text : `${text} (${cause})`;
}

const numbers = new Intl.NumberFormat('en');

/** Such as "100,000". */
export function formatNumber(value: number): string {
  return numbers.format(value);
}

/** Such as "1 rule" or "2 rules". */
export function countOf(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

/** An id cut in the middle, so that its telling end stays: `ipx_366sFR…3AVDui`. */
export function shortId(id: string): string {
  const [prefix = '', rest = ''] = id.split('_', 2);
  return rest.length <= 13 ? id : `${prefix}_${rest.slice(0, 6)}…${rest.slice(-6)}`;
}

const guarded = { dashboard: 'Dashboard', api: 'API', agent: 'Agents', endpoints: 'Endpoints' } as const;

/** The name of an IP restriction: its description, or what it guards, with the end of its id. */
export function restrictionName({
  description,
  id,
  type,
}: {
  readonly description?: string | undefined;
  readonly id: string;
  readonly type: keyof typeof guarded;
}): string {
  return description === undefined || description === ''
    ? `${guarded[type]} restriction …${id.slice(-4)}`
    : description;
}

/** The name of a thing: its description, or its id where it has none. */
export function nameOf({
  description,
  id,
}: {
  readonly description?: string | undefined;
  readonly id: string;
}): string {
  return description === undefined || description === '' ? shortId(id) : description;
}

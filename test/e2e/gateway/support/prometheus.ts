/** Values by name and labels, as they are written. */
export type Samples = ReadonlyMap<string, number>;

export interface Exposition {
  readonly samples: Samples;
  /** Types (`counter`, `gauge` or `histogram`) by metric. */
  readonly types: ReadonlyMap<string, string>;
  readonly labelNames: ReadonlySet<string>;
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const label = String.raw`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"`;
const helpLine = new RegExp(`^# HELP (${metricName}) .+$`);
const typeLine = new RegExp(`^# TYPE (${metricName}) (counter|gauge|histogram|summary|untyped)$`);
const sampleLine = new RegExp(`^(${metricName})(?:\\{((?:${label},?)*)\\})? (\\S+)$`);

/** Parses the text format of Prometheus, version 0.0.4. Throws for anything else. */
export function readExposition(text: string): Exposition {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  const labelNames = new Set<string>();
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const line of text.split('\n')) {
    if (line === '' || helpLine.test(line)) continue;
    const [, typed, type] = typeLine.exec(line) ?? [];
    if (typed !== undefined && type !== undefined) {
      if (types.has(typed)) throw new Error(`${typed} has two types`);
      types.set(typed, type);
      continue;
    }
    const [, name = '', labels = '', , , value = ''] = sampleLine.exec(line) ?? [];
    const family = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(family)) throw new Error(`not a sample of a known metric: ${line}`);
    if (!/^(?:[+-]?Inf|NaN)$/.test(value) && !Number.isFinite(Number(value))) throw new Error(`not a number: ${line}`);
    const key = labels === '' ? name : `${name}{${labels}}`;
    if (samples.has(key)) throw new Error(`twice: ${line}`);
    samples.set(key, Number(value));
    for (const [, each = ''] of labels.matchAll(new RegExp(label, 'g'))) labelNames.add(each);
  }
  return { samples, types, labelNames };
}

/** A value as lines that read like YAML; texts with other than plain characters are in quotes, and escaped. */
export function yamlLines(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(itemLines);
  if (!isMap(value)) return [scalar(value)];
  return Object.entries(value).flatMap(([key, each]) => {
    const lines = yamlLines(each);
    return isMap(each)
      ? [`${scalar(key)}:`, ...lines.map((line) => `  ${line}`)]
      : [`${scalar(key)}: ${lines[0] ?? '[]'}`];
  });
}

function itemLines(item: unknown): readonly string[] {
  const [first = '', ...more] = yamlLines(item);
  return [`- ${first}`, ...more.map((line) => `  ${line}`)];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

const plain = /^[A-Za-z_/][\w ./@*()=-]*$/;
const word = /^(?:true|false|null|yes|no|on|off)$/i;

function scalar(value: unknown): string {
  if (typeof value === 'string')
    return plain.test(value) && !word.test(value) && value.trim() === value ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? 'null';
}

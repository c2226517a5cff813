/** Names and values that an agent gives a tunnel, and by which a backend picks it. */
export type Labels = Readonly<Record<string, string>>;

const labelLimits = { count: 64, nameBytes: 255, valueBytes: 1024 } as const;

/** The reason why these are no labels, or undefined. */
export function labelsFault(labels: Labels): string | undefined {
  const entries = Object.entries(labels);
  const { count, nameBytes, valueBytes } = labelLimits;
  if (entries.length === 0) return 'there is none; give at least one';
  if (entries.length > count) return `there are ${entries.length}, where ${count} are allowed`;
  for (const [name, value] of entries) {
    if (name === '') return 'a name is empty';
    if (Buffer.byteLength(name) > nameBytes) return `a name is longer than ${nameBytes} bytes`;
    if (Buffer.byteLength(value) > valueBytes) return `a value is longer than ${valueBytes} bytes`;
    if (!name.isWellFormed() || !value.isWellFormed()) return 'a name or value is not well-formed Unicode';
    if (name.includes('\0') || value.includes('\0')) return 'a name or value holds a NUL character';
  }
  return undefined;
}

/** True if `labels` has every one of `wanted`; further ones do no harm. */
export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
}

import { Pace } from '../../lib/pace.ts';

/** The text of `{…head, key: [entries]}`, made in slices: serializing thousands of entries at once would hold others up. */
export async function textWithList(head: object, key: string, entries: Iterable<object>): Promise<string> {
  const pace = new Pace();
  const texts: string[] = [];
  for (const entry of entries) {
    texts.push(JSON.stringify(entry));
    if (pace.isDue) await pace.giveWay();
  }
  const start = JSON.stringify(head).slice(0, -1);
  return `${start}${start === '{' ? '' : ','}${JSON.stringify(key)}:[${texts.join(',')}]}`;
}

import { jsonPieces } from '../../lib/json-pieces.ts';
import { Pace } from '../../lib/pace.ts';

/** The text of `{…head, key: [entries]}`, made in slices: serializing thousands of entries at once would hold others up. */
export async function textWithList(
  head: object,
  key: string,
  entries: Iterable<object>,
  isAbandoned: () => boolean,
): Promise<string> {
  const pace = new Pace(isAbandoned);
  const texts: string[] = [];
  for (const entry of entries) {
    let text = '';
    for (const piece of jsonPieces(entry)) {
      text += piece;
      if (pace.isDue) await pace.giveWay();
    }
    texts.push(text);
  }
  const start = JSON.stringify(head).slice(0, -1);
  return `${start}${start === '{' ? '' : ','}${JSON.stringify(key)}:[${texts.join(',')}]}`;
}

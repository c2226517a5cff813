import { oneLine } from '../../events/one-line.ts';

const longestName = 80;
/** Words of types that are not written as they are spoken. */
const spoken: ReadonlyMap<string, string> = new Map([
  ['ip', 'IP'],
  ['api', 'API'],
  ['tcp', 'TCP'],
  ['tls', 'TLS'],
  ['http', 'HTTP'],
  ['https', 'HTTPS'],
]);
/** Fields by which people know a resource, the best first. */
const nameFields = ['summary', 'description', 'name', 'hostport', 'hostname', 'domain', 'addr', 'url', 'id'];

/** One line for people: what happened to what. */
export function titleOf(type: string, document: object): string {
  const words = type
    .replace(/\.v0$/, '')
    .split('_')
    .map((word) => spoken.get(word) ?? word)
    .join(' ');
  const fields = new Map<string, unknown>(Object.entries(document));
  const name = nameFields.map((field) => fields.get(field)).find((each) => typeof each === 'string' && each !== '');
  const title = `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
  return typeof name === 'string' ? `${title}: ${oneLine(name).slice(0, longestName).toWellFormed()}` : title;
}

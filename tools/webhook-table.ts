import { notOffered, providers } from '../src/modules/webhook-verification/providers.ts';
import type { Signing } from '../src/modules/webhook-verification/providers.ts';

const begin = '<!-- generated from src/modules/webhook-verification/providers.ts: npm run generate -->';
const end = '<!-- end of what is generated -->';

/** The page with its tables as the data say. */
export function withWebhookTable(page: string): string {
  const rows = [...providers].map(
    ([id, { title, ways }]) => `| \`${id}\` | ${title} | ${ways.map(describe).join('; or ')} | ${limitOf(ways)} |`,
  );
  const others = [...notOffered].map(([id, reason]) => `| \`${id}\` | ${reason} |`);
  const tables = [
    '| provider | who | signature | older than |',
    '|---|---|---|---|',
    ...rows,
    '',
    '| not verified | why |',
    '|---|---|',
    ...others,
  ].join('\n');
  const [before = '', rest = ''] = page.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before}${begin}\n\n${tables}\n\n${end}${after}`;
}

function describe({
  header,
  kind = 'hmac',
  algorithm = 'sha256',
  encoding = 'hex',
  signed = '{body}',
}: Signing): string {
  const place = header === undefined ? 'in the body' : `\`${header}\``;
  if (kind === 'token') return `${place} is the secret`;
  if (kind === 'basic') return `${place}: name and password`;
  const method = { hmac: 'HMAC', hash: 'digest', ecdsa: 'ECDSA' }[kind];
  return `${place}: ${method} ${algorithm.toUpperCase()}, ${encoding}, of \`${signed.replaceAll('\n', '\\n').replaceAll('|', '\\|')}\``;
}

function limitOf(ways: readonly Signing[]): string {
  const limits = ways.flatMap(({ time, maxAgeSeconds = 300 }) => (time === undefined ? [] : [maxAgeSeconds]));
  return limits.length === 0 ? 'no limit: the time is not signed' : `${Math.max(...limits)} s`;
}

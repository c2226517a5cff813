import { headerValues } from '../../../lib/header-list.ts';
import { isToken } from '../../../lib/http-syntax.ts';
import type { RequestVisit } from '../../step.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import { parseUniqueJson } from '../document/unique-json.ts';
import { invalidConfig, invalidValue } from '../errors.ts';

const mostPlaces = 5;
/** Longest token that is looked at. */
const tokenLength = 8_192;
/** Most bytes of a body in which a token is looked for: reading it holds up everybody else. */
export const tokenBodyBytes = 131_072;
const mostFields = 1000;
const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Where a token stands in requests. */
export interface TokenPlace {
  readonly method: 'header' | 'body';
  /** In lower case. */
  readonly name: string;
  /** In lower case, without blanks around it. */
  readonly prefix: string;
  /** The type that its own header must name; undefined: any. */
  readonly headerType: string | undefined;
}

const types = ['jwt', 'at+jwt', 'it+jwt', 'access_token', 'id_token', 'plain'] as const;

export function readPlaces(config: ConfigReader): readonly TokenPlace[] {
  const http = config.required('http', config.object('http'));
  const places = http.required('tokens', http.objects('tokens', mostPlaces)).map((reader): TokenPlace => {
    const type = reader.required('type', reader.oneOf('type', types));
    if (type === 'plain')
      throw reader.fault(invalidValue, 'type', 'plain tokens are not signed, so that none is checked');
    const method = reader.required('method', reader.oneOf('method', ['header', 'body']));
    const name = written(reader, 'name', reader.required('name', reader.text('name'))).toLowerCase();
    const prefix = written(reader, 'prefix', reader.text('prefix') ?? '')
      .trim()
      .toLowerCase();
    if (name === '' || (method === 'header' && !isToken(name)))
      throw reader.fault(invalidValue, 'name', method === 'header' ? 'no header has such a name' : 'it is empty');
    reader.finish();
    return { method, name, prefix, headerType: type.endsWith('+jwt') ? type : undefined };
  });
  http.finish();
  if (places.length === 0) throw http.fault(invalidConfig, 'tokens', 'it must name at least one token');
  return places;
}

function written(reader: ConfigReader, field: string, text: string): string {
  if (!text.includes('${')) return text;
  throw reader.fault(invalidValue, field, 'expressions are not offered here; write it out');
}

/** Undefined: there is none, or it is unknown which one an upstream would read. */
export function findToken(place: TokenPlace, request: RequestVisit): string | undefined {
  const values =
    place.method === 'header' ? headerValues(request.headers, place.name) : bodyValues(place.name, request);
  const [value, ...more] = values;
  if (value === undefined || more.length > 0) return undefined;
  const { prefix } = place;
  if (value.length > tokenLength + prefix.length || !value.toLowerCase().startsWith(prefix)) return undefined;
  const token = value.slice(prefix.length).trim();
  return compact.test(token) ? token : undefined;
}

/** Values of a field of a body, whatever the case of its name. */
function bodyValues(name: string, { headers, body }: RequestVisit): readonly string[] {
  const [type = '', ...more] = headerValues(headers, 'content-type');
  if (body === undefined || more.length > 0) return [];
  const text = body.toString('utf8');
  const isField = ([each]: readonly [string, unknown]): boolean => each.toLowerCase() === name;
  if (/^application\/x-www-form-urlencoded[ \t]*(?:;|$)/i.test(type)) {
    const fields = new URLSearchParams(text);
    return fields.size > mostFields ? [] : [...fields].filter(isField).map(([, value]) => value);
  }
  if (!/^application\/json[ \t]*(?:;|$)/i.test(type)) return [];
  const fields = readFields(text);
  return fields.filter(isField).map(([, value]) => (typeof value === 'string' ? value : ''));
}

/** Fields of an object of JSON; none where a key stands twice, of which an upstream may read the other one. */
function readFields(text: string): readonly (readonly [string, unknown])[] {
  const read = parseUniqueJson(text);
  const { value } = read ?? {};
  if (read?.isUnique !== true || typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value);
}

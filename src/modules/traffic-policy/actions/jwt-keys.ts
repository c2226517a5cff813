import { faultOfNamedUrl } from '../../../lib/provider-url.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import { invalidConfig, invalidUrl } from '../errors.ts';

const mostAddresses = 10;
const longestAddress = 1024;

/** Reads the addresses of key sets. `keys` and `sources` are maps or lists of maps. */
export function readKeyAddresses(jws: ConfigReader): readonly string[] {
  const all = eachOf(jws, 'keys', (keys) => eachOf(keys, 'sources', readAddresses));
  if (all.length === 0 || all.length > mostAddresses)
    throw jws.fault(invalidConfig, 'keys', `its sources must have 1 to ${mostAddresses} additional_jkus in all`);
  return [...new Set(all)];
}

function readAddresses(source: ConfigReader): readonly string[] {
  const given = source.required('additional_jkus', source.texts('additional_jkus', mostAddresses));
  for (const [at, url] of given.entries()) {
    const reason = url.includes('${')
      ? 'write it out: with an expression, visitors could choose the keys that their tokens are checked by'
      : url.length > longestAddress
        ? `it is longer than ${longestAddress} characters`
        : faultOfNamedUrl(url);
    if (reason !== undefined) throw source.fault(invalidUrl, `additional_jkus[${at}]`, reason);
  }
  return given;
}

function eachOf<Found>(
  reader: ConfigReader,
  name: string,
  read: (each: ConfigReader) => readonly Found[],
): readonly Found[] {
  const isList = Array.isArray(reader.raw(name));
  const readers = isList ? reader.objects(name, mostAddresses) : [reader.required(name, reader.object(name))];
  return (readers ?? []).flatMap((each) => {
    const found = read(each);
    each.finish();
    return found;
  });
}

import { bool, string } from '../../../lib/cel/types.ts';
import type { Type } from '../../../lib/cel/types.ts';
import type { MmdbMap, MmdbValue } from '../../../lib/mmdb/decode.ts';
import { placeOf } from '../../places.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Variables } from './variable.ts';

type Read = (place: MmdbMap) => MmdbValue | undefined;

const text = (...path: readonly (string | number)[]): Read => {
  return (place) => {
    let value: MmdbValue | undefined = place;
    for (const step of path) {
      if (value instanceof Map && typeof step === 'string') value = value.get(step);
      else if (Array.isArray(value) && typeof step === 'number') value = value[step];
      else return undefined;
    }
    return typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  };
};

/** Where they stand in the records of databases of cities and countries. */
const fields: Readonly<Record<string, Read>> = {
  city: text('city', 'names', 'en'),
  country: text('country', 'names', 'en'),
  country_code: text('country', 'iso_code'),
  latitude: text('location', 'latitude'),
  longitude: text('location', 'longitude'),
  radius: text('location', 'accuracy_radius'),
  subdivision: text('subdivisions', 0, 'names', 'en'),
};
const ofAddress: Readonly<Record<string, Read>> = {
  ...fields,
  continent: text('continent', 'names', 'en'),
  metro_code: text('location', 'metro_code'),
  postal_code: text('postal', 'code'),
  timezone: text('location', 'time_zone'),
};
/** Databases leave it out where it is false; of a place without a country nobody knows. */
const isEu: Read = (place) =>
  text('country', 'is_in_european_union')(place) === true ||
  (text('country', 'iso_code')(place) === undefined ? undefined : false);

function variable(read: Read, type: Type) {
  return {
    type,
    get(visit: PolicyVisit) {
      const place = visit.cached('place', visit.engine.source, () => placeOf(visit.engine.source));
      const value = place === undefined ? undefined : read(place);
      return (typeof value === 'string' || typeof value === 'boolean') && type.is(value) ? value : undefined;
    },
  };
}

const below = (name: string, all: Readonly<Record<string, Read>>) =>
  Object.entries(all).map(([field, read]) => [`${name}.${field}`, variable(read, string)] as const);

/** Places of visitors, from a database that the operator has named. What it does not say is absent. */
export const placeVariables: Variables = Object.fromEntries([
  ...below('conn.geo', fields),
  ...below('conn.client_ip.geo.location', ofAddress),
  ['conn.client_ip.geo.location.is_eu', variable(isEu, bool)],
]);

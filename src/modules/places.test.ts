import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { geoDatabase } from '../../test/support/geo-database.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import { parseIp } from '../lib/ip/address.ts';
import { Places } from './places.ts';

const fileOf = (iso_code: string) => geoDatabase({ '192.0.2.0/24': { country: { iso_code } } });

test('a file is read again when it changes; while it is broken or gone, the one before stays in use', async () => {
  const path = join(scratchFolder(), 'places.mmdb');
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: note, warn: note };
  const replace = async (file: Buffer | string) => {
    await writeFile(`${path}.new`, file);
    await rename(`${path}.new`, path);
  };
  await assert.rejects(Places.open(path, log), /--geo-database ".*places\.mmdb" cannot be used: ENOENT/);
  await replace('nonsense');
  await assert.rejects(Places.open(path, log), /it is no file in the MaxMind DB format\. Name a file/);
  await replace(geoDatabase({ '192.0.2.0/24': {} }, { type: 'Test-ASN' }));
  await assert.rejects(Places.open(path, log), /the type "Test-ASN", which tells no countries or cities/);

  await replace(fileOf('DE'));
  using places = await Places.open(path, log);
  const country = (address = '192.0.2.7') => {
    const place = places.find(parseIp(address) ?? assert.fail())?.get('country');
    return place instanceof Map ? place.get('iso_code') : undefined;
  };
  assert.deepEqual([country(), country(), country('198.51.100.1')], ['DE', 'DE', undefined]);
  await replace(fileOf('JP'));
  await until(() => country() === 'JP', 'the new file is read');
  await replace('broken');
  await until(() => lines.some((line) => line.includes('stays in use')), 'the broken file is noticed');
  assert.match(lines.at(-1) ?? '', /"fault":"it is no file in the MaxMind DB format"/);
  assert.equal(country(), 'JP');
  await rm(path);
  await until(() => lines.some((line) => line.includes('ENOENT')), 'that it is gone is noticed');
  assert.equal(country(), 'JP');
  await replace(fileOf('DE'));
  await until(() => country() === 'DE', 'it is back');
});

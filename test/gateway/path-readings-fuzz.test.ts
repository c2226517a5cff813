import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isLong, rounds } from '../support/long-form.ts';
import { Random } from '../e2e/gateway/support/random.ts';
import { openHttp2, requestHttp2 } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  exactRoute,
  ipRestriction,
  prefixRoute,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { readingRules, readPath } from './support/path-readers.ts';
import { startRecorder } from './support/request-recorder.ts';

/**
 * Routes are chosen by the gateway, pages by the upstream. A path that the gateway lets through must not be that of a closed
 * route in any of the ways in which upstreams read paths. Upper and lower case are told apart, as routes tell them apart.
 */

function isProtected(path: string): boolean {
  return (
    path === '/secret' || ['/closed', '/open/closed'].some((route) => path === route || path.startsWith(`${route}/`))
  );
}

const wanted: readonly string[] = [
  '/closed',
  '/closed/x',
  '/open/closed',
  '/open/closed/',
  '/secret',
  '/open/../closed',
];

const tokens: readonly string[] = [
  [
    '/',
    '/',
    '/',
    '//',
    'a',
    'closed',
    'open',
    'secret',
    'c',
    'losed',
    '.',
    '..',
    '%2e',
    '%2E%2e',
    '.%2e',
    '%252e',
    '%25252e',
  ],
  [
    '%2f',
    '%2F',
    '%252f',
    '%5c',
    '%5C',
    '%255c',
    '\\',
    ';',
    ';x=1',
    '%3b',
    '%253B',
    '%63',
    '%2563',
    '%252563',
    '%25%36%33',
  ],
  [
    '%00',
    '%2500',
    '%09',
    '%20',
    '%25',
    '%',
    '%zz',
    '%u002f',
    '%c0%ae',
    '%C0%AF',
    '%c1%9c',
    '%e0%80%af',
    '%f0%80%80%ae',
  ],
  ['%f8%80%80%80%af', '%fc%80%80%80%80%ae', '%25c0%25ae', '%c3%a9', '%e9', '~', '@', ':', '%7e', '?', '#', '*'],
].flat();

/** Encodes some characters of a path, some of them more than once. */
function disguise(path: string, random: Random): string {
  return Array.from(path, (character) => {
    let text = random.below(6) === 0 ? `%${character.charCodeAt(0).toString(16).padStart(2, '0')}` : character;
    while (random.below(8) === 0) text = text.replaceAll('%', '%25');
    return text;
  }).join('');
}

function pathOf(seed: number): string {
  // Spreads the seeds, as neighbouring ones begin with similar numbers.
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
  if (random.below(3) === 0)
    return `/${Array.from({ length: 1 + random.below(9) }, () => random.pick(tokens)).join('')}`;
  let path = disguise(random.pick(wanted), random);
  for (let left = random.below(3); left > 0; left--) {
    const at = 1 + random.below(path.length);
    path = path.slice(0, at) + random.pick(tokens) + path.slice(at);
  }
  return path;
}

/** Returns the path that some upstream reads and that is protected. */
function protectedReading(target: string): string | undefined {
  const [path = ''] = target.split('?');
  return readingRules.map((rules) => readPath(path, rules)).find(isProtected);
}

const cases = rounds(1500, 600_000);
const first = isLong ? Date.now() % 1_000_000_000 : 0;
const only = process.env['TEST_SEED'];

/** Paths that brought something to light. */
const saved: readonly string[] = [
  '/%2563losed',
  '/%252563losed/x',
  '/open/%252e%252e/closed',
  '/open%252fclosed',
  '/open%255cclosed',
  '/open/%253bx/%252e%252e/%252e%252e/closed',
  '/%25c0%25ae%25c0%25ae/closed',
  '/closed%2500.png',
  '/%f8%80%80%80%ae%f8%80%80%80%ae/closed',
  '/%256fpe%255cn%252f../cl%6fs%65d',
  '/%252563losed;%255c.%2e',
];

/** Requests that run at once on one connection. */
const batch = 100;
/** Requests after which another connection is used: Node ends one with a thousand paths that are not even HTTP/2. */
const perConnection = 2_000;

test('no path that is let through is that of a closed route in another reading', async (t) => {
  await using recorder = await startRecorder();
  const closed = { ...toBackend('b'), ...ipRestriction('nobody') };
  await using gateway = await startGateway([
    allowPolicy('nobody', '192.0.2.1/32'),
    backendEntry('b', recorder.port),
    edgeEntry(
      'e',
      ['app.test'],
      [
        ...['/', '/open'].map((match) => prefixRoute(match, toBackend('b'))),
        ...['/closed', '/open/closed'].map((match) => prefixRoute(match, closed)),
        exactRoute('/secret', closed),
      ],
    ),
  ]);
  let session = openHttp2(gateway.port);
  /** `dangerous`: those of the first batch that are a closed route's in some reading. */
  const seen = { passed: 0, refused: 0, dangerous: 0 };
  const paths = only === undefined ? cases : 1;
  const seedAt = (at: number): number => (only === undefined ? first + at : Number(only));
  for (let done = 0; done < paths; done += batch) {
    if (done > 0 && done % perConnection === 0) {
      session.close();
      session = openHttp2(gateway.port);
    }
    const seeds = Array.from({ length: Math.min(batch, paths - done) }, (_, at) => seedAt(done + at));
    const targets = new Map(seeds.map((seed) => [pathOf(seed), `TEST_SEED=${seed} repeats this`]));
    if (done === 0) {
      for (const path of saved) targets.set(path, 'a saved path');
      seen.dangerous = [...targets.keys()].filter((target) => protectedReading(target) !== undefined).length;
    }
    const answers = await Promise.all([...targets.keys()].map((path) => requestHttp2(session, { ':path': path })));
    seen.refused += answers.filter(({ status }) => status !== 200).length;
    assert.deepEqual(recorder.faults, []);
    for (const { target } of recorder.requests.splice(0)) {
      seen.passed += 1;
      const reading = protectedReading(target);
      assert.equal(reading, undefined, `${targets.get(target)}: ${target} can be read as ${reading}`);
    }
  }
  session.close();
  t.diagnostic(JSON.stringify(seen));
  // Paths that are all refused, or none of which is an attack, would prove little.
  if (only === undefined) assert.ok(Math.min(seen.passed, seen.refused) > cases / 10, JSON.stringify(seen));
  if (only === undefined) assert.ok(seen.dangerous > batch / 10, JSON.stringify(seen));
});

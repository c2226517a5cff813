import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readBrowserName } from './browser-name.ts';

const mozilla = 'Mozilla/5.0';
const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

test('browsers are told apart, though many give the names of others too', () => {
  const cases: readonly (readonly [userAgent: string, ...name: string[]])[] = [
    [
      `${mozilla} (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0`,
      'Firefox',
      '131.0',
      'desktop',
      'Linux',
      '',
    ],
    [
      `${mozilla} (Windows NT 10.0; Win64; x64) ${webkit} Chrome/130.0.0.0 Safari/537.36`,
      'Chrome',
      '130.0.0.0',
      'desktop',
      'Windows',
      '',
    ],
    [
      `${mozilla} (Windows NT 10.0) ${webkit} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.1`,
      'Edge',
      '130.0.1',
      'desktop',
      'Windows',
      '',
    ],
    [
      `${mozilla} (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/18.1 Safari/605.1.15`,
      'Safari',
      '18.1',
      'desktop',
      'macOS',
      '10.15.7',
    ],
    [
      `${mozilla} (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${webkit} CriOS/130.0 Mobile/15E148`,
      'Chrome',
      '130.0',
      'mobile',
      'iOS',
      '18.1',
    ],
    [
      `${mozilla} (iPad; CPU OS 17_6 like Mac OS X) ${webkit} Version/17.6 Safari/604.1`,
      'Safari',
      '17.6',
      'tablet',
      'iPadOS',
      '17.6',
    ],
    [
      `${mozilla} (Linux; Android 14; Pixel 8) ${webkit} Chrome/130.0 Mobile Safari/537.36`,
      'Chrome',
      '130.0',
      'mobile',
      'Android',
      '14',
    ],
    [
      `${mozilla} (Linux; Android 13; SM-X200) ${webkit} SamsungBrowser/26.0 Chrome/122.0 Safari/537.36`,
      'Samsung Browser',
      '26.0',
      'tablet',
      'Android',
      '13',
    ],
    ['curl/8.10.1', 'curl', '8.10.1', '', '', ''],
    ['', '', '', '', '', ''],
    ['Firefox/<script>', 'Firefox', '', '', '', ''],
    [`${'x'.repeat(1024)} Firefox/131.0`, 'x'.repeat(60), '', '', '', ''],
    [`Firefox/${'1'.repeat(400)}`, 'Firefox', '1'.repeat(20), '', '', ''],
  ];
  for (const [userAgent, ...name] of cases)
    assert.deepEqual(Object.values(readBrowserName(userAgent)), name, userAgent);
});

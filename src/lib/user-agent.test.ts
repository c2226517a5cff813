import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readUserAgent } from './user-agent.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const kinds = ['is_mobile', 'is_tablet', 'is_desktop', 'is_bot'] as const;

const known: readonly (readonly [header: string, words: string])[] = [
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/120.0.0.0 Safari/537.36 Edg/120.0.2`,
    'Edge 120.0.2 Windows 10.0  is_desktop',
  ],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/120.0.0.0 Safari/537.36`, 'Chrome 120.0.0.0 Linux   is_desktop'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15',
    'Safari 17.1 macOS 10.15.7  is_desktop',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1',
    'Safari 17.1 iOS 17.1 iPhone is_mobile',
  ],
  [
    'Mozilla/5.0 (iPad; CPU OS 16_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/119.0 Mobile/15E148 Safari/604.1',
    'Chrome 119.0 iOS 16.5 iPad is_tablet',
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; Pixel 7 Build/TQ3A) ${webkit} Chrome/119.0.0.0 Mobile Safari/537.36`,
    'Chrome 119.0.0.0 Android 13 Pixel 7 is_mobile',
  ],
  [
    `Mozilla/5.0 (Linux; Android 12; SM-X906C) ${webkit} Chrome/119.0.0.0 Safari/537.36`,
    'Chrome 119.0.0.0 Android 12 SM-X906C is_tablet',
  ],
  ['Mozilla/5.0 (Android 14; Mobile; rv:120.0) Gecko/120.0 Firefox/120.0', 'Firefox 120.0 Android 14  is_mobile'],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot 2.1    is_bot'],
  [`Mozilla/5.0 ${webkit}; compatible; GPTBot/1.2; +https://openai.com/gptbot)`, 'GPTBot 1.2    is_bot'],
  ['Mozilla/5.0 (Windows NT 10.0; Trident/7.0; rv:11.0) like Gecko', 'Internet Explorer 11.0 Windows 10.0  is_desktop'],
  ['curl/8.9.0', 'curl 8.9.0    '],
  ['', '     '],
];

test('programs, systems and devices are told by a User-Agent', () => {
  for (const [header, words] of known) {
    const read = readUserAgent(header);
    const { name, version, os, os_version, device } = read;
    const kind = kinds.filter((each) => read[each]).join('+');
    assert.equal([name, version, os, os_version, device, kind].join(' '), words, header);
  }
  assert.equal(readUserAgent('GPTBot/1.2; +https://openai.com/gptbot)').url, 'https://openai.com/gptbot');
});

test('of a very long User-Agent only the beginning is read', () => {
  for (const piece of ['Chrome/', '(', ';', 'Android ', 'bot', '+http://', 'a/1 '])
    assert.equal(typeof readUserAgent(piece.repeat(20_000)).name, 'string');
  assert.equal(readUserAgent(`${'x '.repeat(2000)} Firefox/1`).name, 'x');
});

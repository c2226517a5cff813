import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { FixedAnswer } from './fixed-answer.ts';

async function answerTo(method: string, status: number): Promise<string> {
  const answer = new FixedAnswer({ kind: 'fixed_answer', id: 'b', status, headers: [], body: 'text' });
  return text(answer.connect().end(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`));
}

test('a status that has no content gets none', async () => {
  assert.match(await answerTo('GET', 200), /\r\ncontent-length: 4\r\n[^]*\r\n\r\ntext$/);
  assert.match(await answerTo('HEAD', 200), /\r\ncontent-length: 4\r\n[^]*\r\n\r\n$/);
  assert.match(await answerTo('GET', 205), /\r\ncontent-length: 0\r\n[^]*\r\n\r\n$/);
  for (const status of [204, 304]) assert.doesNotMatch(await answerTo('GET', status), /content-length|text/);
});

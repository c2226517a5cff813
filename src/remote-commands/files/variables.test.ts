import assert from 'node:assert/strict';
import { test } from 'node:test';

import { escapeVariables, fileVariables, fillVariables } from './variables.ts';

const environment = { PORT: '80', EMPTY: '', SECRET: 's3cret', GATEHOUSE_TOKEN: 'the token', gatehouse_url: 'u' };

test('variables are filled in, with defaults, and escaped ones stay', () => {
  const lookup = fileVariables(environment);
  assert.equal(fillVariables('a:${PORT} ${EMPTY:-x} ${NONE:-} $${PORT} $PORT', lookup), 'a:80 x  ${PORT} $PORT');
  assert.throws(() => fillVariables('${NONE}', lookup), /NONE is not set/);
  assert.throws(() => fillVariables('${a b}', lookup), /is not a variable/);
  assert.equal(fillVariables(escapeVariables('${SECRET}'), lookup), '${SECRET}');
});

test('files never get what is Gatehouse’s own, named or with a default', () => {
  for (const text of ['${GATEHOUSE_TOKEN}', '${GATEHOUSE_NONE:-x}', '${gatehouse_url}'])
    for (const allowed of [undefined, 'GATEHOUSE_TOKEN,GATEHOUSE_NONE,gatehouse_url'])
      assert.throws(() => fillVariables(text, fileVariables(environment, allowed)), /is one of Gatehouse itself/, text);
});

test('where names are given, and in CI, files get these alone', () => {
  const fill = (text: string, ci: string | undefined, allowed?: string) =>
    fillVariables(text, fileVariables({ ...environment, CI: ci }, allowed));
  assert.equal(fill('${PORT}', undefined, 'X, PORT'), '80');
  assert.equal(fill('${PORT}', 'true', 'PORT'), '80');
  for (const ci of [undefined, '', 'false', '0']) assert.equal(fill('${SECRET}', ci), 's3cret', ci);
  assert.throws(
    () => fill('${SECRET}', undefined, 'PORT'),
    /SECRET is not one that files may have\. .*--variables SECRET$/,
  );
  assert.throws(() => fill('${SECRET:-x}', undefined, ''), /SECRET is not one that files may have/);
  for (const ci of ['true', '1', 'woodpecker'])
    assert.throws(() => fill('${SECRET}', ci), /SECRET is not one that files may have in CI\. /, ci);
});

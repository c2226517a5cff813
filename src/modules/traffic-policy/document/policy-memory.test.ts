import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { rounds } from '../../../../test/support/long-form.ts';
import { policyPart } from '../run/policy-steps.ts';
import { readPolicy } from './known-policies.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function memoryUsed(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const deny = [{ type: 'deny' }];
const ofRules = (count: number, ruleOf: (at: number) => object) =>
  JSON.stringify({ on_http_request: Array.from({ length: count }, (_, at) => ruleOf(at)) });
/** Rules, each with an expression at its limit; the collector goes through all of them after each test. */
const repeated = (
  part: (at: number) => string,
  joined: string,
  [before, after]: readonly [string, string] = ['', ''],
) =>
  ofRules(rounds(5, 10), () => {
    let expression = before;
    for (let at = 0; expression.length < 15_000; at++) expression += `${at === 0 ? '' : joined}${part(at)}`;
    return { expressions: [expression + after], actions: deny };
  });
const setVars = (value: unknown) => ({ actions: [{ type: 'set-vars', config: { vars: [{ a: value }] } }] });

const shapes: Readonly<Record<string, string>> = {
  'rules by path': ofRules(1000, (at) => ({
    expressions: [`req.url.path == '/some/path/${at}' && req.host == 'shop${at}.example.com'`],
    actions: deny,
  })),
  'rules that set headers': ofRules(500, () => ({
    actions: [{ type: 'add-headers', config: { headers: { a: 'b', c: '${req.host}' } } }],
  })),
  'small expressions': ofRules(100, () => ({ expressions: Array.from({ length: 80 }, () => '1==1'), actions: deny })),
  sums: repeated(() => `${'1+'.repeat(200)}1==1`, '||'),
  comparisons: repeated(() => '1==1', '||'),
  negations: repeated(() => '!!!!!!!!true', '||'),
  macros: repeated(() => '[1].all(x,x>0)', '||'),
  choices: repeated(() => '(true?true:true)', '||'),
  'lists of numbers': repeated(() => '1', ',', ['1 in [', ']']),
  'lists of texts': repeated((at) => `'${at}'`, ',', ['req.host in [', ']']),
  maps: repeated((at) => `${at}:1`, ',', ['1 in {', '}']),
  'regular expressions': ofRules(40, (at) => ({
    expressions: [`req.host.matches('(a|b|[c-z0-9]){70}${at}')`],
    actions: deny,
  })),
  templates: ofRules(12, () => setVars('${1}'.repeat(900))),
  values: ofRules(10, () => setVars(Array.from({ length: 8000 }, () => 0))),
  objects: ofRules(10, () => setVars(Array.from({ length: 1500 }, (_, at) => ({ [`k${at}`]: '' })))),
  ranges: ofRules(10, (rule) => ({
    actions: [
      {
        type: 'restrict-ips',
        config: { allow: Array.from({ length: 500 }, (_, at) => `10.${rule}.${at >> 8}.${at & 255}`) },
      },
    ],
  })),
};

for (const [name, text] of Object.entries(shapes)) {
  test(`${name}: a policy takes no more memory than is counted for it`, () => {
    const before = memoryUsed();
    const policy = readPolicy(text);
    const part = policyPart(policy);
    const bytes = memoryUsed() - before;
    assert.equal(part.steps?.length, 1);
    const estimate = policy.kib * 1024;
    // What the test itself leaves is some kilobytes.
    assert.ok(bytes < estimate * 1.15 + 65_536, `${bytes} bytes are used, ${estimate} are counted`);
    assert.ok(estimate < bytes * 10 + 65_536, `${estimate} bytes are counted for ${bytes}`);
  });
}

import { parseIp } from '../../src/lib/ip/address.ts';
import { namedParts } from '../../src/modules/index.ts';
import { runSteps } from '../../src/modules/run-steps.ts';
import type { Answering, ModulePart, RequestVisit, Step } from '../../src/modules/step.ts';
import { visitBudget } from '../../src/modules/visit-budget.ts';

/**
 * `node policy-rules.ts ROUNDS MS`: prints, as one JSON object, nanoseconds that the steps of modules and of traffic policies take for a
 * request and its answer, in turn.
 */
const rounds = Number(process.argv[2]);
const roundMs = Number(process.argv[3]);
const manyRules = 500;
const fewRules = 10;

const headers: readonly string[] = [
  ['Host', 'shop.example.com'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en-US,en;q=0.5'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  ['Referer', 'https://shop.example.com/'],
  ['Cookie', 'session=0123456789abcdef0123456789abcdef'],
  ['Sec-Fetch-Dest', 'document'],
  ['Sec-Fetch-Mode', 'navigate'],
  ['Sec-Fetch-Site', 'same-origin'],
  ['Priority', 'u=0, i'],
  ['X-Debug', '1'],
].flat();
const forUpstream = [
  ...headers,
  'X-Forwarded-For',
  '192.0.2.1',
  'X-Forwarded-Host',
  'shop.example.com',
  'X-Forwarded-Proto',
  'https',
];
const ofAnswer = [
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Cache-Control', 'private, max-age=0'],
  ['ETag', '"0123456789"'],
  ['Server', 'upstream/1.0'],
  ['Vary', 'Accept-Encoding'],
  ['X-Powered-By', 'something'],
].flat();

interface Contestant {
  readonly name: string;
  readonly parts: readonly ModulePart[];
  /** Paths that are asked for, in turn. */
  readonly paths: readonly string[];
}

const rule = (type: string, config: object, ...expressions: readonly string[]) => ({
  ...(expressions.length > 0 && { expressions }),
  actions: [{ type, config }],
});
const added = (name: string) => ({ add: { [name]: `the value of ${name}` }, remove: [] });
const module = (name: string, settings: object): readonly ModulePart[] =>
  namedParts({ [name]: { enabled: true, ...settings } }).map(({ build }) => build());
const policy = (document: object) => module('traffic_policy', { value: JSON.stringify(document) });

const names = ['x-a', 'x-b', 'x-c', 'x-d'];
const asModules = [
  ...names.flatMap((name) => module('request_headers', added(name))),
  ...module('request_headers', { add: {}, remove: ['x-debug'] }),
  ...module('cidr_restriction', { allow: ['192.0.2.0/24'], deny: ['192.0.2.128/25'] }),
  ...names.slice(0, 3).flatMap((name) => module('response_headers', added(name))),
  ...module('response_headers', { add: {}, remove: ['server'] }),
];
const addRule = (name: string) => rule('add-headers', { headers: { [name]: `the value of ${name}` } });
const asRules = policy({
  on_http_request: [
    ...names.map(addRule),
    rule('remove-headers', { headers: ['x-debug'] }),
    rule('restrict-ips', { allow: ['192.0.2.0/24'], deny: ['192.0.2.128/25'] }),
  ],
  on_http_response: [...names.slice(0, 3).map(addRule), rule('remove-headers', { headers: ['server'] })],
});

const forward = { url: 'https://shop.internal' };
const forms: Readonly<Record<string, (at: number) => readonly string[]>> = {
  "path == '…'": (at) => [`req.url.path == '/service-${at}'`],
  "path.startsWith('…')": (at) => [`req.url.path.startsWith('/service-${at}/')`],
  "host == '…' && path.startsWith('…')": (at) => [
    `req.host == 'shop.example.com' && req.url.path.startsWith('/service-${at}/')`,
  ],
};

function byPath(form: string, count: number): Contestant {
  const expressionsOf = forms[form] ?? (() => []);
  const rules = Array.from({ length: count }, (_, at) => rule('forward-internal', forward, ...expressionsOf(at)));
  const end = form.includes('starts') ? '/cart' : '';
  const paths = Array.from({ length: 64 }, (_, at) => `/service-${Math.floor((at * count) / 64)}${end}`);
  return { name: `${count} ${form}`, parts: policy({ on_http_request: rules }), paths };
}

const contestants: readonly Contestant[] = [
  { name: 'ten modules', parts: asModules, paths: ['/'] },
  { name: 'ten rules', parts: asRules, paths: ['/'] },
  ...Object.keys(forms).flatMap((form) => [byPath(form, fewRules), byPath(form, manyRules)]),
];

const nanoseconds: Record<string, number[]> = Object.fromEntries(contestants.map(({ name }) => [name, []]));
const runs = contestants.map((contestant) => ({ name: contestant.name, run: runOf(contestant) }));
// The first two rounds let V8 optimise the code and do not count.
for (let round = -2; round < rounds; round++) {
  for (const { name, run } of runs) {
    const cost = measure(run);
    if (round >= 0) nanoseconds[name]?.push(cost);
  }
}
process.stdout.write(JSON.stringify({ nanoseconds }));

/** Passes one request and its answer; returns how many headers it has at the end. */
function runOf({ parts, paths }: Contestant): (at: number) => number {
  const steps: readonly Step[] = parts.flatMap((part) => part.steps ?? []);
  const answers = parts.flatMap((part) => part.answers ?? []);
  const visit = { ...newVisit(), at: 0, done: undefined };
  const answering: Answering = {
    request: { method: 'GET', headers },
    visit,
    status: 200,
    headers: ofAnswer,
    contentLength: 100,
    openTransform: undefined,
    mayEncode: () => true,
    hold: () => {},
    isEncodable: true,
  };
  return (at) => {
    visit.policy = undefined;
    visit.outgoing = forUpstream;
    visit.upstreamTarget = paths[at % paths.length] ?? '/';
    visit.at = 0;
    answering.headers = ofAnswer;
    runSteps(steps as Parameters<typeof runSteps<RequestVisit>>[0], visit);
    for (const { run } of answers) run(answering);
    return visit.outgoing.length + answering.headers.length;
  };
}

function newVisit(): RequestVisit {
  const nothing = () => undefined;
  const never = (): never => {
    throw new Error('nobody is asked');
  };
  return {
    accountId: 'ac_1',
    edgeId: 'edghts_1',
    ownerId: 'edghtsrt_1',
    source: parseIp('192.0.2.1')!,
    countedSource: 1,
    hostname: 'shop.example.com',
    isTls13: true,
    budget: visitBudget(),
    facts: never,
    endpoint: () => ({ id: 'edghts_1', protocol: 'https', host: 'shop.example.com', port: 443 }),
    policy: undefined,
    warn: () => undefined,
    httpVersion: '1.1',
    certificate: undefined,
    headers,
    method: 'GET',
    host: 'shop.example.com',
    target: '/',
    urls: [],
    isUpgrade: false,
    body: undefined,
    operationId: () => 'op_1',
    upstreamTarget: '/',
    outgoing: forUpstream,
    outgoingBody: undefined,
    identity: undefined,
    cookies: [],
    tokens: [],
    circuits: [],
    kept: (_key, make) => make(),
    services: {
      access: { allows: () => false, denies: () => false, isUnloadable: () => false },
      rates: { take: nothing },
      secrets: { get: nothing },
      notes: { add: nothing },
      passwords: { check: nothing },
      tokens: { admit: nothing, judge: never },
      logins: { admit: nothing, holds: never, idToken: nothing },
      requests: { send: never },
    },
  };
}

function measure(run: (at: number) => number): number {
  const startUs = processorUs();
  const endMs = performance.now() + roundMs;
  let done = 0;
  let sum = 0;
  while (performance.now() < endMs) {
    for (let at = 0; at < 256; at++) sum += run(done + at);
    done += 256;
  }
  if (sum <= 0) throw new Error('so that no compiler finds the result unused');
  return ((processorUs() - startUs) / done) * 1000;
}

/** Returns CPU time of this process, which other programs do not disturb. */
function processorUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

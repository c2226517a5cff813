import { setTimeout as sleep } from 'node:timers/promises';

import { X509Certificate } from 'node:crypto';
import { crypto } from 'acme-client';
import type { Authorization, Client, Order } from 'acme-client';

import { readValidity } from '../lib/certificate-validity.ts';
import { toTimestamp } from '../lib/ids.ts';
import { newKey } from './authority.ts';
import { sentence } from './authority-requests.ts';
import { callHook } from './dns-hook.ts';
import type { DnsHook } from './dns-hook.ts';
import { authorityRefused, challengeFailed, orderLate } from './errors.ts';
import { OrderFault, OrderGoneError, RejectedError } from './order-fault.ts';
import { renewalIdOf } from './renewal-info.ts';
import { renewalMs } from './schedule.ts';
import type { AcmeStorage, Job } from './storage.ts';

export type ChallengeKind = 'http-01' | 'tls-alpn-01' | 'dns-01';
type Challenge = Authorization['challenges'][number];

export interface OrderParts {
  readonly storage: AcmeStorage;
  readonly holder: string;
  readonly client: Client;
  readonly hook: DnsHook | undefined;
  /** In the order in which they are tried. */
  readonly challenges: readonly ('http-01' | 'tls-alpn-01')[];
  /** As in `DueJob`. */
  readonly isRenewal: boolean;
  readonly signal: AbortSignal;
}

/** Other gateways follow a change within 250 ms. */
const settleMs = 500;
const pollMs = 1_000;
/** Limit for the authority to decide on a challenge, and to issue. */
const decideMs = 60_000;
/** An authority may leave a failed challenge open, to be asked for again; so often it is. */
const challengeTries = 3;

/** Carries an order through, from wherever an earlier process left it. Resolves with the id of the certificate. */
export async function carryOutOrder(parts: OrderParts, first: Job): Promise<string> {
  const { storage, holder, client } = parts;
  const { job, order: begun } = await beginOrder(parts, first);
  let order = begun;
  if (order.status === 'pending') {
    for (const authorization of await client.getAuthorizations(order)) {
      if (authorization.status === 'pending') await prove(parts, job, authorization);
    }
    order = await waitWhile(parts, job, order, ['pending']);
  }
  const keyPem = await storage.loadKey(job);
  if (keyPem === undefined) throw new Error('the private key of an order is missing');
  if (order.status === 'ready') {
    const names = { commonName: job.hostname, altNames: [job.hostname] };
    const [, csr] = await crypto.createCsr(names, keyPem);
    order = await refusing(job, () => client.finalizeOrder(order, csr));
  }
  order = await waitWhile(parts, job, order, ['ready', 'processing']);
  if (order.status !== 'valid') throw refused(job, `the order is ${order.status}`);
  const certificatePem = await client.getCertificate(order);
  const certificate = new X509Certificate(certificatePem);
  const { notBefore, notAfter } = readValidity(certificate);
  const renewsAt = toTimestamp(renewalMs(notBefore.getTime(), notAfter.getTime(), Math.random()));
  return storage.install(holder, job, {
    certificatePem,
    privateKeyPem: keyPem,
    renewsAt,
    renewalId: renewalIdOf(certificate),
  });
}

/** The order that is under way, or a new one if there was none. Its URL and the key are stored before anything else is done with it. */
async function beginOrder(parts: OrderParts, job: Job): Promise<{ readonly job: Job; readonly order: Order }> {
  const { storage, holder, client, isRenewal } = parts;
  const known = await findOrder(client, job);
  if (known !== undefined) return { job, order: known };
  if (job.orderUrl !== undefined) throw new OrderGoneError();
  await storage.noteOrder(holder, { accountId: job.accountId, isRenewal }, Date.now());
  const identifiers = [{ type: 'dns', value: job.hostname }];
  const order = await refusing(job, () => client.createOrder({ identifiers }));
  const begun = { ...job, orderUrl: order.url };
  await storage.saveJob(holder, begun, await newKey(job.keyType));
  return { job: begun, order };
}

/** Undefined if there is none, or none that can come to an end. */
async function findOrder(client: Client, { orderUrl }: Job): Promise<Order | undefined> {
  if (orderUrl === undefined) return undefined;
  try {
    // The client reads nothing but the URL.
    const order = await client.getOrder({ url: orderUrl } as Order);
    return order.status === 'invalid' ? undefined : order;
  } catch (error) {
    if (error instanceof OrderFault) throw error;
    return undefined;
  }
}

async function prove(parts: OrderParts, job: Job, authorization: Authorization): Promise<void> {
  const challenge = chooseChallenge(parts, job, authorization);
  const keyAuthorization = await parts.client.getChallengeKeyAuthorization(challenge);
  const kind = kindOf(challenge);
  if (kind === 'dns-01') {
    await proveByRecord(parts, job, authorization, challenge, keyAuthorization);
    return;
  }
  const { storage, holder } = parts;
  const id = job.hostname;
  const proof =
    kind === 'http-01'
      ? { http: { token: challenge.token, text: keyAuthorization } }
      : { tls: await challengePair(authorization, keyAuthorization) };
  await storage.publish(holder, { kind: 'challenge', id, hostname: job.hostname, observed: true, ...proof });
  try {
    await sleep(settleMs, undefined, { signal: parts.signal });
    await complete(parts, job, authorization, challenge);
  } finally {
    await storage.withdraw(holder, id);
  }
}

async function proveByRecord(
  parts: OrderParts,
  job: Job,
  authorization: Authorization,
  challenge: Challenge,
  value: string,
): Promise<void> {
  const { hook } = parts;
  if (hook === undefined) throw new Error('a DNS challenge was chosen without a hook');
  const record = { name: `_acme-challenge.${authorization.identifier.value}`, value };
  await callHook(hook, 'add', record);
  try {
    await complete(parts, job, authorization, challenge);
  } finally {
    await callHook(hook, 'remove', record);
  }
}

/** Another way is taken after each failure. */
function chooseChallenge(
  { challenges, hook }: OrderParts,
  job: Job,
  { challenges: offered }: Authorization,
): Challenge {
  const isWildcard = job.hostname.startsWith('*.');
  const own: readonly ChallengeKind[] = isWildcard ? [] : challenges;
  const kinds: readonly ChallengeKind[] = hook === undefined ? own : [...own, 'dns-01'];
  const possible = kinds.flatMap((kind) => offered.filter((each) => kindOf(each) === kind));
  const chosen = possible[job.failures % Math.max(possible.length, 1)];
  if (chosen === undefined) {
    const names = offered.map(kindOf).join(', ');
    throw refused(job, `it offers ${names} only, none of which GATEHOUSE_ACME_CHALLENGES or a DNS hook allow`);
  }
  return chosen;
}

/** Lets the authority look, and waits for its verdict. */
async function complete(
  parts: OrderParts,
  job: Job,
  authorization: Authorization,
  challenge: Challenge,
): Promise<void> {
  const { client, signal } = parts;
  const deadline = Date.now() + decideMs;
  for (let tries = 1; ; tries++) {
    await refusing(job, () => client.completeChallenge(challenge));
    const { status, failure } = await verdict(parts, job, authorization, challenge, deadline);
    if (status === 'valid') return;
    if (status === 'invalid' || tries >= challengeTries) throw failed(job, challenge, failure);
    await sleep(pollMs, undefined, { signal });
  }
}

interface Verdict {
  readonly status: 'valid' | 'invalid' | 'open';
  readonly failure: string;
}

async function verdict(
  parts: OrderParts,
  job: Job,
  authorization: Authorization,
  { url }: Challenge,
  deadline: number,
): Promise<Verdict> {
  const { client, signal } = parts;
  // The client reads nothing but the URLs.
  const asOrder = { authorizations: [authorization.url] } as unknown as Order;
  while (Date.now() < deadline) {
    const [current] = await client.getAuthorizations(asOrder);
    const challenge = current?.challenges.find((each) => each.url === url);
    const failure = wordsOf(challenge?.error);
    if (current?.status === 'valid') return { status: 'valid', failure: '' };
    if (current?.status !== 'pending') return { status: 'invalid', failure: failure ?? 'it gave no reason' };
    if (challenge?.status === 'pending' && failure !== undefined) return { status: 'open', failure };
    await sleep(pollMs, undefined, { signal });
  }
  throw new OrderFault(orderLate, { name: job.hostname, seconds: decideMs / 1000 });
}

async function waitWhile(parts: OrderParts, job: Job, order: Order, states: readonly string[]): Promise<Order> {
  const deadline = Date.now() + decideMs;
  let current = order;
  while (states.includes(current.status)) {
    if (Date.now() > deadline) throw new OrderFault(orderLate, { name: job.hostname, seconds: decideMs / 1000 });
    current = await parts.client.getOrder(current);
    if (states.includes(current.status)) await sleep(pollMs, undefined, { signal: parts.signal });
  }
  return current;
}

async function challengePair(authorization: Authorization, keyAuthorization: string) {
  const [key, certificate] = await crypto.createAlpnCertificate(authorization, keyAuthorization);
  return { certificatePem: certificate.toString(), privateKeyPem: key.toString() };
}

function failed(job: Job, challenge: Challenge, reason: string): OrderFault {
  const kind = kindOf(challenge);
  const port = kind === 'http-01' ? '80' : kind === 'tls-alpn-01' ? '443' : '53 of its name servers';
  return new OrderFault(challengeFailed, { name: job.hostname, kind, reason: sentence(reason), port });
}

function refused({ hostname }: Job, reason: string): OrderFault {
  return new OrderFault(authorityRefused, { name: hostname, reason: sentence(reason) });
}

/** The client throws the words of the authority. */
async function refusing<T>(job: Job, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OrderFault || error instanceof RejectedError) throw error;
    throw refused(job, error instanceof Error ? error.message : String(error));
  }
}

/** The library's type leaves `tls-alpn-01` out. */
function kindOf(challenge: { readonly type: string }): string {
  return challenge.type;
}

function wordsOf(error: object | undefined): string | undefined {
  if (error === undefined) return undefined;
  return 'detail' in error ? String(error.detail) : JSON.stringify(error);
}

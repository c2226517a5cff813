import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { BoundedCache } from '../../lib/bounded-cache.ts';
import { parseIp } from '../../lib/ip/address.ts';
import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import { sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';

/**
 * Calls of one source that are answered at once though nobody is signed in: enough for probes, and for fifty people behind
 * one address who open the dashboard together.
 */
const promptCalls = 3_000;
/** Calls that a source gets back in each second. Half as many again would take a tenth of a processor. */
const callsPerSecond = 200;
/** Sources that are counted; those that have called least recently are forgotten. */
const countedSources = 10_000;

interface Bucket {
  /** Calls that are left; below zero where the source has to wait. */
  calls: number;
  atMs: number;
}

/**
 * Slows down sources that make very many calls without being signed in. Nobody is refused: their connections rest, which
 * costs nothing, where a refusal would cost as much as the answer. Trusted proxies, whose connections carry calls of many,
 * are not slowed down.
 */
export class AnonymousCalls {
  readonly #trustedProxies: CidrSet;
  readonly #readMs: () => number;
  readonly #signedIn = new WeakSet<IncomingMessage>();
  readonly #buckets = new BoundedCache<SourceKey, Bucket>(countedSources);

  constructor(trustedProxies: CidrSet, readMs: () => number = () => performance.now()) {
    this.#trustedProxies = trustedProxies;
    this.#readMs = readMs;
  }

  /** The caller behind a request is known. */
  signedIn(request: IncomingMessage): void {
    this.#signedIn.add(request);
  }

  /** Counts a request that was answered. Returns the time for which its connection shall rest, in milliseconds. */
  restAfter(request: IncomingMessage): number {
    if (this.#signedIn.has(request)) return 0;
    const source = this.sourceOf(request.socket);
    if (source === undefined) return 0;
    const nowMs = this.#readMs();
    const known = this.#buckets.get(source);
    const bucket = known ?? { calls: promptCalls, atMs: nowMs };
    if (known === undefined) this.#buckets.set(source, bucket);
    const gained = ((nowMs - bucket.atMs) * callsPerSecond) / 1000;
    bucket.calls = Math.min(promptCalls, bucket.calls + gained) - 1;
    bucket.atMs = nowMs;
    return bucket.calls >= 0 ? 0 : (-bucket.calls * 1000) / callsPerSecond;
  }

  /** The source that a connection belongs to; undefined for a trusted proxy, and for a peer that has left. */
  sourceOf({ remoteAddress = '' }: Socket): SourceKey | undefined {
    const peer = parseIp(remoteAddress);
    return peer === undefined || this.#trustedProxies.lookup(peer) !== 0 ? undefined : sourceKey(peer);
  }
}

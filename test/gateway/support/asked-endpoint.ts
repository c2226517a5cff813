import type { TestContext } from 'node:test';

import type { InternalEndpointEntry, ModuleSettings, SnapshotEntry } from '../../../src/snapshot/contract.ts';
import { backendEntry, toBackend } from './https-entries.ts';
import { startUpstream } from './https-upstream.ts';
import type { TestUpstream } from './https-upstream.ts';
import { policyOf } from './policies.ts';

/** The value of the secret that `vaultWith` has made as `token`. */
export const ofVault = "${secrets.get('keys', 'token')}";

export function internal(url: string, modules: ModuleSettings, id = url, accountId = 'acc_1'): InternalEndpointEntry {
  return { kind: 'internal_endpoint', id, accountId, url, modules };
}

/** A program behind an internal endpoint that answers as it is told. */
export async function startAsked(
  t: TestContext,
  answer: Parameters<typeof startUpstream>[0],
): Promise<{ asked: TestUpstream; entries: readonly SnapshotEntry[] }> {
  const asked = await startUpstream(answer);
  t.after(() => asked[Symbol.asyncDispose]());
  return { asked, entries: [backendEntry('asked', asked.port), internal('https://auth.internal', toBackend('asked'))] };
}

/** A policy that asks the endpoint of `startAsked`. */
export const call = (config: object, phase?: string) =>
  policyOf('http-request', { url: 'https://auth.internal/check', ...config }, phase);

/** A policy that asks it, and answers with a value. */
export const telling = (config: object, value: string) => ({
  on_http_request: [
    {
      actions: [
        { type: 'http-request', config: { url: 'https://auth.internal/check', timeout: '30s', ...config } },
        { type: 'custom-response', config: { body: value } },
      ],
    },
  ],
});

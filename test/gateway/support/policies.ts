import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';

import { UserError } from '../../../src/errors/user-error.ts';
import { trafficPolicy as module } from '../../../src/modules/traffic-policy/index.ts';
import type { SnapshotEntry } from '../../../src/snapshot/contract.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './https-entries.ts';
import { startGateway } from './https-gateway.ts';
import type { GatewaySettings } from './https-gateway.ts';
import { startUpstream } from './https-upstream.ts';

/** The first example below a heading of the page about traffic policies. */
export function documentedPolicy(heading: string): string {
  const page = readFileSync(new URL('../../../docs/traffic-policy.md', import.meta.url), 'utf8');
  const section = page.split(/^#+ /m).find((each) => each.startsWith(`${heading}\n`));
  const found = /```(?:json|yaml)\n([\s\S]*?)```/.exec(section ?? '')?.[1];
  return found ?? assert.fail(`there is no example for ${heading}`);
}

/** The rules of one action, for a phase. */
export function policyOf(type: string, config: object, phase = 'on_http_request'): object {
  return { [phase]: [{ actions: [{ type, config }] }] };
}

/** Code and message of what refuses a policy that is written. */
export function refusalOf(document: object): string {
  try {
    const settings = module.accept({ value: JSON.stringify(document) });
    module.checkWritten?.(settings, 'https_route');
  } catch (error) {
    if (error instanceof UserError) return `${error.code} ${error.message}`;
    throw error;
  }
  return assert.fail(`it was taken: ${JSON.stringify(document)}`);
}

/** A gateway with a policy at its only route, before an upstream. */
export async function startWithPolicy(
  t: TestContext,
  document: string | object,
  more: readonly SnapshotEntry[] = [],
  settings?: GatewaySettings,
) {
  const upstream = await startUpstream();
  t.after(() => upstream[Symbol.asyncDispose]());
  const modules = (each: string | object) => ({ ...toBackend('b'), ...trafficPolicy(each) });
  const edge = (each: string | object) => edgeEntry('e', ['app.test'], [prefixRoute('/', modules(each))]);
  const gateway = await startGateway([backendEntry('b', upstream.port), edge(document), ...more], settings);
  t.after(() => gateway[Symbol.asyncDispose]());
  return { upstream, gateway, setPolicy: (each: string | object) => gateway.set(edge(each)) };
}

/** A secret in a vault of the account, which expressions name as `secrets.get('keys', NAME)`. */
export function vaultWith(name: string, value: string): readonly SnapshotEntry[] {
  return [
    { kind: 'vault', id: 'vault_1', accountId: 'acc_1', name: 'keys' },
    { kind: 'vault_secret', id: `secret_${name}`, vaultId: 'vault_1', name, value },
  ];
}

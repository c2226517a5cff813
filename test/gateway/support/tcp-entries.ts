import { packCidrs } from '../../../src/lib/ip/cidr-set.ts';
import { parseCidr } from '../../../src/lib/ip/cidr.ts';
import { ruleFlag } from '../../../src/snapshot/contract.ts';
import type {
  BackendEntry,
  EntryKey,
  ModuleSettings,
  PolicyEntry,
  RestrictionEntry,
  SnapshotEntry,
  SnapshotUpdate,
  TcpEdgeEntry,
} from '../../../src/snapshot/contract.ts';

export const accountId = 'acc_1';

/** Makes a policy; a CIDR allows, and with `!` before it denies. */
export function policy(id: string, ...rules: readonly string[]): PolicyEntry {
  return { kind: 'policy', id, rules: packRules(rules) };
}

export function packRules(rules: readonly string[]) {
  return packCidrs(
    rules.map((rule) => {
      const denies = rule.startsWith('!');
      const parsed = parseCidr(denies ? rule.slice(1) : rule);
      if (!parsed.ok) throw new Error(`${rule} ${parsed.reason}`);
      return { cidr: parsed.cidr, flags: denies ? ruleFlag.deny : ruleFlag.allow };
    }),
  );
}

export function restriction(id: string, policyIds: readonly string[], enforced = true): RestrictionEntry {
  return { kind: 'restriction', id, accountId, type: 'endpoints', enforced, policyIds };
}

export function backend(id: string, port: number, more: Partial<BackendEntry> = {}): BackendEntry {
  return { kind: 'backend', id, host: '127.0.0.1', port, tls: false, ...more };
}

export function tcpEdge(id: string, ports: readonly number[], modules: ModuleSettings = toBackend()): TcpEdgeEntry {
  return { kind: 'tcp_edge', id, accountId, ports, modules };
}

export function toBackend(id = 'bkdsc_1', more: ModuleSettings = {}): ModuleSettings {
  return { backend: { enabled: true, backend_id: id }, ...more };
}

export function limitedTo(...policyIds: readonly string[]): ModuleSettings {
  return toBackend('bkdsc_1', { ip_restriction: { enabled: true, ip_policy_ids: policyIds } });
}

let version = 0;

export function snapshot(...set: readonly SnapshotEntry[]): SnapshotUpdate {
  return { version: ++version, full: true, set, removed: [] };
}

export function change(set: readonly SnapshotEntry[], removed: readonly EntryKey[] = []): SnapshotUpdate {
  return { version: ++version, full: false, set, removed };
}

import type { ConnectionServices } from '../modules/step.ts';
import type { SetAside, SnapshotFollower, SnapshotUpdate, VaultSecretEntry } from '../snapshot/contract.ts';

/** Secrets of all accounts, by the names of their vaults and their own. A new value is in force with its update. */
export class VaultSecrets implements SnapshotFollower {
  /** Id of a vault by account and name. */
  #vaults = new Map<string, string>();
  #keys = new Map<string, string>();
  /** Values by vault and name. */
  #values = new Map<string, string>();
  #secrets = new Map<string, string>();

  readonly service: ConnectionServices['secrets'] = {
    get: (accountId, vault, name) => {
      const id = this.#vaults.get(keyOf(accountId, vault));
      return id === undefined ? undefined : this.#values.get(keyOf(id, name));
    },
  };

  prepare(update: SnapshotUpdate, setAside: SetAside): () => void {
    const vaults = update.set.filter((entry) => entry.kind === 'vault');
    const secrets = update.set.filter((entry) => entry.kind === 'vault_secret');
    const usable = new Set(secrets.filter((entry) => isUsable(entry, setAside)));
    return () => {
      if (update.full) {
        this.#vaults = new Map();
        this.#keys = new Map();
        this.#values = new Map();
        this.#secrets = new Map();
      }
      const removed = (kind: string) => update.removed.flatMap((key) => (key.kind === kind ? [key.id] : []));
      // Old names are removed before new ones are set: a name may move from one to another.
      for (const id of [...removed('vault'), ...vaults.map(({ id: each }) => each)]) drop(id, this.#keys, this.#vaults);
      for (const id of [...removed('vault_secret'), ...secrets.map(({ id: each }) => each)])
        drop(id, this.#secrets, this.#values);
      for (const { id, accountId, name } of vaults) put(id, keyOf(accountId, name), id, this.#keys, this.#vaults);
      for (const { id, vaultId, name, value } of usable)
        put(id, keyOf(vaultId, name), value, this.#secrets, this.#values);
    };
  }
}

function keyOf(owner: string, name: string): string {
  return `${owner} ${name}`;
}

function drop(id: string, keys: Map<string, string>, values: Map<string, string>): void {
  const key = keys.get(id);
  if (key === undefined) return;
  keys.delete(id);
  values.delete(key);
}

function put(id: string, key: string, value: string, keys: Map<string, string>, values: Map<string, string>): void {
  keys.set(id, key);
  values.set(key, value);
}

/** A secret that does not open is none. */
function isUsable(entry: VaultSecretEntry, setAside: SetAside): boolean {
  if (entry.fault === undefined) return true;
  setAside(entry, new Error(entry.fault));
  return false;
}

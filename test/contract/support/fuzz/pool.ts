import type { Random } from '../../../e2e/gateway/support/random.ts';
import type { Account } from '../account.ts';

const idForm = /\b[a-z]+_[0-9A-Za-z]{27}\b/g;

export function idsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(idForm));
}

/** Ids that are remembered of each kind; older ones are forgotten. */
const remembered = 12;

/** The ids that one account has shown, by kind. */
export class Pool {
  readonly account: Account;
  /** Ids of the keys and owners that the run itself uses: it must not delete them. */
  readonly #reserved: ReadonlySet<string>;
  readonly #byKind = new Map<string, string[]>();
  readonly #all = new Set<string>();
  /** Ids that callers of the account have sent, perhaps as a description, so that answers may show them. */
  readonly #sent = new Set<string>();

  constructor(account: Account, reserved: ReadonlySet<string>) {
    this.account = account;
    this.#reserved = reserved;
  }

  /** Takes note of the ids in an answer. Operations are not resources. */
  learn(text: string): void {
    for (const id of idsIn(text)) {
      const [kind = ''] = id.split('_', 1);
      if (kind === 'op' || this.#reserved.has(id) || this.#sent.has(id)) continue;
      this.#all.add(id);
      const known = this.#byKind.get(kind) ?? [];
      if (known.includes(id)) continue;
      known.push(id);
      this.#byKind.set(kind, known.slice(-remembered));
    }
  }

  noteSent(text: string): void {
    for (const id of idsIn(text)) if (!this.#all.has(id)) this.#sent.add(id);
  }

  wasSent(id: string): boolean {
    return this.#sent.has(id);
  }

  has(id: string): boolean {
    return this.#all.has(id);
  }

  /** Returns an id of the kind, or any if there is none. */
  pick(kind: string, random: Random): string | undefined {
    const known = this.#byKind.get(kind) ?? [];
    return known.length === 0 ? undefined : random.pick(known);
  }

  get ids(): readonly string[] {
    return [...this.#byKind.values()].flat();
  }
}

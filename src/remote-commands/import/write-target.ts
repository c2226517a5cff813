import { ApiError } from '../../../client/src/index.ts';
import type { GatehouseClient, OperationId } from '../../../client/src/index.ts';
import type { Collection } from './collections.ts';
import type { Document, Journal } from './journal.ts';
import { nameOf } from './report.ts';
import type { Report } from './report.ts';
import { formsOf, toBody } from './to-body.ts';
import type { Forms } from './to-body.ts';

export interface TargetOptions {
  readonly client: GatehouseClient;
  readonly openApi: Readonly<Record<string, unknown>>;
  readonly journal: Journal;
  readonly report: Report;
  readonly allowLockout: boolean;
}

/** Calls that are under way at once. */
const lanes = 8;
const idForm = /^[a-z]+_[0-9A-Za-z]{27}$/;

/** The server that gets the copies. */
export class Target {
  readonly #options: TargetOptions;
  /** Ids here by ids of the source. */
  readonly #ids: Map<string, string>;

  constructor(options: TargetOptions) {
    this.#options = options;
    this.#ids = new Map(options.journal.made);
  }

  /** Creates those that are not here yet; `present` has the ids of those that are. */
  async create(collection: Collection, documents: readonly Document[], present: ReadonlySet<string>): Promise<void> {
    const forms = formsOf(this.#options.openApi, `${collection.name}Create`);
    // Ids that were kept sort by age anyhow; others get theirs in the order in which they are made.
    const waiting = [...documents];
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
        await this.#createOne(collection, forms, next, present);
    };
    await Promise.all(Array.from({ length: lanes }, work));
  }

  async #createOne(
    collection: Collection,
    forms: Forms,
    document: Document,
    present: ReadonlySet<string>,
  ): Promise<void> {
    const { report, openApi } = this.#options;
    const known = this.#ids.get(document.id) ?? document.id;
    if (present.has(known)) {
      this.#ids.set(document.id, known);
      return report.leave();
    }
    const { body, faults, dropped } = toBody(openApi, collection, forms, document, (old) => this.#ids.get(old));
    if (faults.length > 0) return report.refuse(collection.noun, document, faults.join(', '));
    try {
      await this.#post(collection, document, body);
      if (dropped.length > 0) report.note(`${collection.noun}: ${nameOf(document)}: ${dropped.join(', ')}`);
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 404, 409, 413].includes(error.status)) throw error;
      report.refuse(collection.noun, document, error.message);
    }
  }

  async #post({ name, noun }: Collection, document: Document, body: object): Promise<void> {
    const { client, journal, report, allowLockout } = this.#options;
    const edge = typeof document['edge_id'] === 'string' ? this.#ids.get(document['edge_id']) : undefined;
    const input = {
      body,
      ...(edge === undefined ? {} : { path: { edge_id: edge } }),
      allowLockout,
      idempotencyKey: journal.keyFor(document.id),
      ...(idForm.test(document.id) ? { newId: document.id } : {}),
    };
    // The names of collections are written beside those of the operations.
    const { id } = (await client.call(`${name}Create` as OperationId, input)) as { readonly id: string };
    this.#ids.set(document.id, id);
    if (id !== document.id) await journal.addMade(document.id, id);
    report.take(noun, id !== document.id);
  }

  /** True if a copy of it is here. */
  has(id: string): boolean {
    return this.#ids.has(id);
  }
}

import { BoundedCache } from '../lib/bounded-cache.ts';
import type { Awaitable, Queries } from '../store/database.ts';
import type { Stored } from '../store/table.ts';
import { tagAnswer, tagOf } from './etag.ts';
import type { Call } from './operation.ts';

/** An answer that may be given again: what has been made of it is kept with it. */
export class Shown {
  readonly view: object;
  readonly tag: string;
  #text: string | undefined;

  constructor(view: object, tag: string) {
    this.view = view;
    this.tag = tag;
  }

  textBy(serialize: (view: object) => string): string {
    return (this.#text ??= serialize(this.view));
  }
}

export interface Presentation<Document extends Stored> {
  /** All that a tag of the resource stands for; the document itself unless it says otherwise. */
  state?(queries: Queries, document: Document): Promise<object>;
  /** What an answer shows. Without a promise it depends on nothing but the document and the base of URIs. */
  present(document: Document, call: Call): Awaitable<object>;
}

interface Kept<Document> {
  readonly document: Document;
  readonly base: string;
  readonly shown: Shown;
}

const limit = 5_000;

/** Shows documents. What was shown of one that is still in memory, and so unchanged, is shown again. */
export class Showcase<Document extends Stored> {
  readonly #presentation: Presentation<Document>;
  readonly #kept = new BoundedCache<string, Kept<Document>>(limit);

  constructor(presentation: Presentation<Document>) {
    this.#presentation = presentation;
  }

  show(queries: Queries, document: Document, call: Call): Awaitable<object> {
    if (this.#presentation.state !== undefined) return this.#showState(queries, document, call);
    const kept = this.#kept.get(document.id);
    if (kept !== undefined && kept.document === document && kept.base === call.base) {
      call.setHeader('ETag', kept.shown.tag);
      return kept.shown;
    }
    const tag = tagOf(document);
    call.setHeader('ETag', tag);
    const view = this.#presentation.present(document, call);
    if (view instanceof Promise) return view;
    const shown = new Shown(view, tag);
    this.#kept.fill(this.#kept.ticket(), document.id, { document, base: call.base, shown });
    return shown;
  }

  async #showState(queries: Queries, document: Document, call: Call): Promise<object> {
    tagAnswer(call, (await this.#presentation.state?.(queries, document)) ?? document);
    return this.#presentation.present(document, call);
  }
}

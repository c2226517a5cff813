import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { nullable } from './body/view-fields.ts';
import type { Call } from './call.ts';
import type { Shown } from './filter/filtered-list.ts';
import { nextPageQuery } from './http/query.ts';

export const nextPageUri = nullable('string', 'URI of the next page, or null when there is no next page.');

/** The schema of a page: its entries under `listKey`, its URI and that of the next one. */
export function pageSchema(name: string, listKey: string, entry: TSchema) {
  return Type.Object(
    {
      [listKey]: Type.Array(entry, { description: 'The entries of this page, newest first.' }),
      uri: Type.String({ description: 'URI of the list resource.' }),
      next_page_uri: nextPageUri,
    },
    { $id: `${name}Page` },
  );
}

/** The answer with a page of the list at `path`. */
export function presentPage(
  { page, filters, uri }: Call,
  path: string,
  listKey: string,
  entries: readonly object[],
  nextBefore: Shown<unknown>['nextBefore'],
) {
  return {
    [listKey]: entries,
    uri: uri(path),
    next_page_uri: nextBefore === undefined ? null : uri(`${path}${nextPageQuery(nextBefore, page, filters)}`),
  };
}

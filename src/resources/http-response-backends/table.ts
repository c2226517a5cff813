import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { referencesSql } from '../references.ts';

export interface HttpResponseBackend extends Stored, TextFields {
  readonly status_code: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const migrations: readonly Migration[] = [
  {
    name: 'http-response-backends 0001',
    sql: `${tableSql('http_response_backends')} ${referencesSql('http_response_backends')}`,
  },
];

export const httpResponseBackends = new Table<HttpResponseBackend>({
  name: 'http_response_backends',
  kind: 'http_response_backend',
  prefix: 'bkdhr',
  mayBeLong: true,
});

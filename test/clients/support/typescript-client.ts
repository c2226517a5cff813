import assert from 'node:assert/strict';

import { Ngrok } from '@ngrok/ngrok-api';

import { Gatehouse } from '../../support/gatehouse.ts';

/** Starts a Gatehouse with the vendor's names, and the official client with nothing changed but its base URL. */
export async function startWithClient(databaseUrl: string) {
  const gatehouse = await Gatehouse.start(databaseUrl, { vendor: 'ngrok' });
  const client = new Ngrok({ apiToken: gatehouse.token, baseUrl: gatehouse.url });
  return { gatehouse, client, [Symbol.asyncDispose]: () => gatehouse[Symbol.asyncDispose]() };
}

/** The value that the client throws for an error response: its fields, with details as a map. */
interface ClientError {
  readonly errorCode: string;
  readonly statusCode: number;
  readonly msg: string;
  readonly details: ReadonlyMap<string, string>;
}

export async function errorOf(call: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await call.then(
    () => assert.fail('the call was not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(!(error instanceof Error), `the client could not read the answer: ${String(error)}`);
  // The assertions below check every field.
  const { errorCode, statusCode, msg, details } = error as ClientError;
  assert.match(errorCode, /^ERR_NGROK_\d+$/);
  assert.ok(statusCode >= 400 && msg.length > 10);
  assert.match(details.get('operationId') ?? '', /^op_\w{27}$/);
  return { errorCode, statusCode, msg, details };
}

/**
 * Deletes, then checks that the resource is gone. The client parses the empty body of a 204 as JSON and rejects with a
 * SyntaxError, whatever the server; an error response rejects with a value of another kind.
 */
export async function expectDeleted(remove: Promise<void>, get: () => Promise<unknown>): Promise<void> {
  await assert.rejects(remove, SyntaxError);
  const { statusCode } = await errorOf(get());
  assert.equal(statusCode, 404);
}

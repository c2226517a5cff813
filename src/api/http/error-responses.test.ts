import assert from 'node:assert/strict';
import { test } from 'node:test';

import fastify from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { StoreUnavailableError } from '../../store/database.ts';
import { notReady } from '../errors.ts';
import { createErrorResponses } from './error-responses.ts';
import { vendorWords } from './vendor-words.ts';

test('a process that is not ready says so in a line without a stack; a database that fails has one', async (context) => {
  const lines: { level: number; reason?: string; err?: object }[] = [];
  const server = fastify({ logger: { level: 'warn', stream: { write: (line) => void lines.push(JSON.parse(line)) } } });
  const errors = createErrorResponses(vendorWords(undefined), server.log, { callRefused: () => {} });
  server.setErrorHandler((error, request, reply) => errors.send(request, reply, error));
  server.get('/readyz', () => {
    throw new UserError(notReady, { reason: 'it is starting' });
  });
  server.get('/broken', () => {
    throw new StoreUnavailableError('it is away');
  });
  context.after(() => server.close());
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  assert.equal((await fetch(`${url}/readyz`)).status, 503);
  assert.deepEqual([lines.length, lines[0]?.level, lines[0]?.err], [1, 40, undefined]);
  assert.match(lines[0]?.reason ?? '', /it is starting/);
  assert.equal((await fetch(`${url}/broken`)).status, 503);
  assert.deepEqual([lines.length, lines[1]?.level], [2, 50]);
  assert.ok(lines[1]?.err);
});

import { DatabaseSync } from 'node:sqlite';

import { fastify } from 'fastify';

/** `node fastify-sqlite.ts PORT FILE`: POST stores the body in a durable row with a commit of its own. */
const [, , port, file = ''] = process.argv;
const database = new DatabaseSync(file);
database.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE entries (id INTEGER PRIMARY KEY, body TEXT)',
);
const insert = database.prepare('INSERT INTO entries (body) VALUES (?)');
const app = fastify();

app.post('/*', (request, reply) => {
  const { lastInsertRowid } = insert.run(JSON.stringify(request.body));
  return reply.code(201).send({ id: Number(lastInsertRowid) });
});
await app.listen({ port: Number(port), host: '127.0.0.1' });

import { fastify } from 'fastify';
import pg from 'pg';

/** `node fastify-postgres.ts PORT URL`: POST stores the body in a durable row with a commit of its own. */
const [, , port, connectionString = ''] = process.argv;
const pool = new pg.Pool({ connectionString, max: 8 });
await pool.query('CREATE TABLE IF NOT EXISTS entries (id BIGSERIAL PRIMARY KEY, body TEXT)');
const app = fastify();

app.post('/*', async (request, reply) => {
  const { rows } = await pool.query<{ readonly id: string }>({
    name: 'insert',
    text: 'INSERT INTO entries (body) VALUES ($1) RETURNING id',
    values: [JSON.stringify(request.body)],
  });
  return reply.code(201).send({ id: Number(rows[0]?.id) });
});
await app.listen({ port: Number(port), host: '127.0.0.1' });

import { fastify } from 'fastify';

/** `node bare-fastify.ts PORT BODY`: answers with one fixed object, serialized by its schema at each request. */
const [, , port, body = '{}'] = process.argv;
// The caller passes a JSON object.
const value = JSON.parse(body) as Readonly<Record<string, unknown>>;
const app = fastify();

app.get('/*', { schema: { response: { 200: schemaOf(value) } } }, (_request, reply) => reply.send(value));
await app.listen({ port: Number(port), host: '127.0.0.1' });

/** A schema that names every field, as hand-written ones do. */
function schemaOf(sample: unknown): object {
  if (Array.isArray(sample)) return { type: 'array', items: schemaOf(sample[0]) };
  if (sample === null) return { type: ['string', 'null'] };
  if (typeof sample !== 'object') return { type: typeof sample };
  const fields = Object.entries(sample ?? {}).map(([name, field]) => [name, schemaOf(field)] as const);
  return { type: 'object', properties: Object.fromEntries(fields) };
}

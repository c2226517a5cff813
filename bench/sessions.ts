import { clientId, clientSecret, IdentityProvider } from '../test/support/identity-provider.ts';
import { Visitor } from '../test/support/visitor.ts';
import type { Benchmark } from './support/benchmark.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { loadColumns, underLoad } from './support/measure.ts';
import { atMost, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { startUpstream } from './support/upstream.ts';

const host = 'localhost';
const inside = '/inside';
const visitorName = 'ada';
const open = 'a route without a login';
const signedIn = 'a route with the module oidc';

export const sessions: Benchmark = {
  name: 'sessions',
  summary: 'Requests of a visitor who has signed in with an OpenID provider, beside a route that asks for no login',
  async run({ rounds, seconds }) {
    await using upstream = await startUpstream();
    await using gatehouse = await Gatehouse.start();
    const { httpsPort: port, process } = gatehouse;
    await using provider = await IdentityProvider.start(
      { [visitorName]: { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['ops', 'staff'] } },
      [`${host}:${port}`],
    );
    await createRoutes(gatehouse, upstream.port, provider.issuer);
    // The same request to both: without a login, a cookie of that length is one of the upstream's own.
    const headers = { Cookie: await signIn(port) };
    const variants = [
      { name: open, paths: ['/'] },
      { name: signedIn, paths: [inside] },
    ].map(({ name, paths }) => underLoad(name, process, { port, tls: true, paths, headers, seconds }));
    const outcomes = await interleave(variants, { rounds });
    const [without, having] = outcomes.map((outcome) => figureOf(outcome, 'cpuUs').median);
    return {
      title: 'What a session costs',
      lines: compare(variants, outcomes, loadColumns, open),
      verdicts: [
        atMost(
          'sign-in',
          'CPU time a request, with a session ÷ without a login',
          Number(having) / Number(without),
          1.15,
        ),
      ],
    };
  },
};

/** Two routes of one edge: one process serves both, since what V8 makes of the code differs from start to start. */
async function createRoutes(gatehouse: Gatehouse, upstreamPort: number, issuer: string): Promise<void> {
  const backend = { backend_id: await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstreamPort}` }) };
  const routes = `/edges/https/${await gatehouse.create('/edges/https', { hostports: [`${host}:443`] })}/routes`;
  const oidc = { issuer, client_id: clientId, client_secret: clientSecret, email_domains: ['example.com'] };
  await gatehouse.create(routes, { match_type: 'path_prefix', match: '/', backend });
  await gatehouse.create(routes, { match_type: 'path_prefix', match: inside, backend, oidc });
}

/** Signs in as a browser does, and returns what it sends along from then on. */
async function signIn(httpsPort: number): Promise<string> {
  const visitor = new Visitor({ [host]: httpsPort });
  const { status } = await visitor.signIn(`https://${host}:${httpsPort}${inside}`, visitorName);
  const pairs = [...(visitor.cookies.get(host) ?? [])].map(([name, value]) => `${name}=${value}`);
  if (status !== 200 || pairs.length === 0) throw new Error(`the login was answered with ${status}`);
  return pairs.join('; ');
}

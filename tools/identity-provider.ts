/**
 * An OpenID provider to try the sign-in with: `npx node tools/identity-provider.ts --port 9001 app.localhost:8443` for the host
 * of an edge, `npx node tools/identity-provider.ts --port 9001 http://127.0.0.1:4040` for the dashboard. Never for service.
 */
import { parseArgs } from 'node:util';

import { clientId, clientSecret, IdentityProvider } from '../test/support/identity-provider.ts';

const { values, positionals: hosts } = parseArgs({
  options: { port: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const provider = await IdentityProvider.start(
  {
    ada: { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['ops'] },
    eve: { email: 'eve@example.com', email_verified: true, name: 'Eve', groups: ['carriers'] },
  },
  hosts,
  Number(values.port),
);
process.stdout.write(`issuer: ${provider.issuer}\nclient_id: ${clientId}\nclient_secret: ${clientSecret}\n`);
process.stdout.write('people: ada (group ops), eve (group carriers)\n');

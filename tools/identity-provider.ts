/** An OpenID provider to try the sign-in with: `node tools/identity-provider.ts app.localhost:8443`. Never for service. */
import { clientId, clientSecret, IdentityProvider } from '../test/support/identity-provider.ts';

const hosts = process.argv.slice(2);
const provider = await IdentityProvider.start(
  {
    ada: { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['ops'] },
    eve: { email: 'eve@example.com', email_verified: true, name: 'Eve', groups: ['carriers'] },
  },
  hosts,
);
process.stdout.write(`issuer: ${provider.issuer}\nclient_id: ${clientId}\nclient_secret: ${clientSecret}\n`);
process.stdout.write('people: ada (group ops), eve (group carriers)\n');

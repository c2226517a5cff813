/** Names that look public, and the addresses they lead to in the network of the tests. */
export const names = {
  'http.gatehouse-app.net': '127.0.0.2',
  'alpn.gatehouse-app.net': '127.0.0.2',
  'renewed.gatehouse-app.net': '127.0.0.2',
  'policy.gatehouse-app.net': '127.0.0.2',
  'crash.gatehouse-app.net': '127.0.0.4',
  'other.gatehouse-app.net': '127.0.0.3',
  'nobody.gatehouse-app.net': '127.0.0.9',
} as const;

export const directoryHost = 'ca.gatehouse-ca.net';
export const directoryPort = 9443;
export const directory = `https://${directoryHost}:${directoryPort}/acme/local/directory`;

/** Actions of the public service that are not offered, each with the reason. */
export const whyNotOffered: ReadonlyMap<string, string> = new Map([
  ['saml', 'use openid-connect, which most providers that speak SAML offer too'],
  ['ai-gateway', 'forward to the provider, and add its key with add-headers and secrets.get()'],
  ['owasp-crs-request', 'no engine for the core rule set is built in'],
  ['owasp-crs-response', 'no engine for the core rule set is built in'],
  ['terminate-tls', 'set the modules tls_termination and mutual_tls of the edge, which say how TLS ends there'],
  ['http-request', 'the gateway asks no server on behalf of a visitor; forward to one with forward-internal'],
  ['request-body-find-replace', 'bodies are passed on as they come; change them in the upstream server'],
  ['response-body-find-replace', 'bodies are passed on as they come; change them in the upstream server'],
  ['sse-find-replace', 'messages of streams are passed on as they come; change them in the upstream server'],
  ['webhook-validation', 'it is called verify-webhook now'],
  ['oidc', 'it is called openid-connect now'],
  ['ip-restriction', 'it is called restrict-ips now'],
]);

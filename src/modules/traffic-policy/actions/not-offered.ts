/** Actions of the public service that are not offered, each with the reason. */
export const whyNotOffered: ReadonlyMap<string, string> = new Map([
  ['saml', 'use openid-connect, which most providers that speak SAML offer too'],
  ['ai-gateway', 'forward to the provider, and add its key with add-headers and secrets.get()'],
  ['owasp-crs-request', 'no engine for the core rule set is built in'],
  ['owasp-crs-response', 'no engine for the core rule set is built in'],
  ['sse-find-replace', 'messages of streams are passed on as they come; change them in the upstream server'],
  ['webhook-validation', 'it is called verify-webhook now'],
  ['oidc', 'it is called openid-connect now'],
  ['ip-restriction', 'it is called restrict-ips now'],
]);

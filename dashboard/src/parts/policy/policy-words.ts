const phases = ['on_tcp_connect', 'on_http_request', 'on_http_response'];

/** Such as "Rules in on_http_request". */
export function phasesIn(policy: string): string {
  const found = phases.filter((phase) => policy.includes(phase));
  return found.length === 0 ? 'Without rules' : `Rules in ${found.join(', ')}`;
}

/** Numbers of errors of policies, to the field that holds the text. */
export function policyErrors(field: string): Readonly<Record<number, string>> {
  return Object.fromEntries(Array.from({ length: 100 }, (_, at) => [2200 + at, field]));
}

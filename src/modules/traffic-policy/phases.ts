/** Stages of a visit that a policy has rules for. */
export const phases = ['on_tcp_connect', 'on_http_request', 'on_http_response'] as const;
export type Phase = (typeof phases)[number];

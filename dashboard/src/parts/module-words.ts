import { titleOf } from './modules/schema.ts';

/** Titles of modules and actions that decide about visitors, as decisions name them. */
const titles: Readonly<Record<string, string>> = {
  basic_auth: 'Password',
  circuit_breaker: 'Circuit breaker',
  cidr_restriction: 'Addresses of the agent’s endpoint',
  ip_restriction: 'IP restriction of the edge or route',
  jwt_validation: 'Token (JWT)',
  mutual_tls: 'Client certificate',
  oauth: 'Sign-in (OAuth)',
  oidc: 'Sign-in (OpenID Connect)',
  rate_limit: 'Rate limit',
  traffic_policy: 'Traffic policy',
  user_agent_filter: 'User agents',
  webhook_verification: 'Webhook signature',
};

export function moduleTitle(name: string): string {
  return titles[name] ?? titleOf(name.replaceAll('-', '_'));
}

/** Modules and actions that can refuse, for a choice. */
export const refusingModules: readonly (readonly [name: string, title: string])[] = Object.entries(titles);

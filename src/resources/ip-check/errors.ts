import { defineError } from '../../errors/user-error.ts';

export const ipCheckTarget = defineError(
  20032,
  400,
  'Say what the address is to be tried against: give type alone, or edge_id, route_id or both.',
);

export const notAnIpAddress = defineError(
  20033,
  400,
  'The ip {ip} is not an IPv4 or IPv6 address. Write it like 203.0.113.7 or 2001:db8::1.',
);

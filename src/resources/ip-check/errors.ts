import { defineError } from '../../errors/user-error.ts';

export const ipCheckTarget = defineError(
  20032,
  400,
  'Nothing says what to try the address against. Give type alone, or edge_id, route_id or both.',
);

export const notAnIpAddress = defineError(
  20033,
  400,
  'The ip {ip} is not an IPv4 or IPv6 address. Write it like 203.0.113.7 or 2001:db8::1.',
);

export const pathWithoutEdge = defineError(
  20374,
  400,
  'A path is tried at the edge_id of an HTTPS edge: give that, and no route_id, or leave the path out.',
);

export const pathWithoutRoute = defineError(
  20375,
  404,
  'No route of this edge leads to {path}: visitors are answered with 404. Give another path, or leave it out to see all routes.',
);

export const pathRefused = defineError(
  20376,
  400,
  'The gateway refuses the path {path}: {reason}. Write it as browsers do.',
);

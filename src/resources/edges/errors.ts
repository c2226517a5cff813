import { defineError } from '../../errors/user-error.ts';

export const edgeNotFound = defineError(
  7000,
  404,
  'There is no {noun} with the id {id}. Check the id, or list them to see which exist.',
);

export const edgeDescriptionTooLong = defineError(
  7073,
  400,
  'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
);

export const edgeMetadataTooLong = defineError(
  7074,
  400,
  'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
);

export const invalidHostport = defineError(7104, 400, 'The hostport {hostport} is not of the form host:port: {reason}');

export const invalidPort = defineError(
  7112,
  400,
  'The port {port} of {hostport} is not valid. Give a number from 1 to 65535.',
);

export const wrongHttpsPort = defineError(
  7116,
  400,
  'The hostport {hostport} must use port {port}: that is the port which clients use, wherever the gateway itself listens. Did you mean {meant}? The setting https_port on the host changes it.',
);

export const hostportTaken = defineError(
  7122,
  409,
  '{hostport} belongs to another edge, address or tunnel{edge}. Take it from there first, or choose another.',
);

export const matchRequired = defineError(7123, 400, 'A route needs a match. Give a path that starts with "/".');

export const routeNotFound = defineError(
  7124,
  404,
  'There is no {noun} with the id {id}. Check the id, or read the edge to see its routes.',
);

export const duplicateMatch = defineError(
  7126,
  409,
  'The edge {edge} already has a route for {match} ({route}). Change or delete that one first.',
);

export const tooManyHostports = defineError(
  7129,
  400,
  'The edge has {count} hostports, where {limit} are allowed. Spread them over several edges.',
);

export const unknownMatchType = defineError(
  7130,
  400,
  'The match_type {type} is unknown. Give "path_prefix" or "exact_path".',
);

export const invalidMatch = defineError(7131, 400, 'The match {match} is not acceptable: {reason}.');

export const matchTooLong = defineError(
  7135,
  400,
  'The match is too long: {bytes} bytes, where {limit} are allowed. Shorten it.',
);

export const moduleNotSet = defineError(
  20008,
  404,
  'The module {module} is not set on {id}. Set it with PUT on the same path.',
);

export const portNotOffered = defineError(
  20014,
  400,
  'The port {port} of {hostport} is not among the ports of this installation ({ports}). Choose one of these, or change the setting tcp_ports on the host.',
);

export const hostnameOverlap = defineError(
  20030,
  409,
  '{hostport} belongs to another account, or overlaps with a host name of one (a wildcard covers all names one label below it). Choose another host name.',
);

export const duplicatePort = defineError(
  20031,
  400,
  'Both {first} and {second} name the port {port}. An edge listens on a port once: give one of them.',
);

export const httpsEndsUpstream = defineError(
  20307,
  400,
  'TLS of an HTTPS edge ends at the edge: leave "terminate_at" out, or use a TLS edge (/edges/tls), which can pass it on unread.',
);

export const certificatesUnread = defineError(
  20308,
  400,
  'The module mutual_tls needs TLS to end at the edge: the gateway cannot read certificates of visitors in what it passes on. Set tls_termination with "terminate_at": "edge" before or in the same request, or disable or remove mutual_tls first.',
);

export const shownNotTaken = defineError(
  20366,
  400,
  'The field {field} is accepted only with its present value, and changes nothing. Give ids in {ids} instead.',
);

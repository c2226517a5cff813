import { defineError } from '../../errors/user-error.ts';

export const wrongEndpointType = defineError(
  248,
  400,
  'An endpoint of the type {type} cannot be created here: the API makes those of the type "cloud". Endpoints of agents come with agents, and those of edges with edges.',
);

export const invalidUrl = defineError(
  18001,
  400,
  'The URL {url} of the endpoint is not acceptable: {reason}. Write it like https://app.example.com, tcp://host:port or https://app.internal.',
);

export const invalidPolicy = defineError(18002, 400, 'The traffic policy of the endpoint is not acceptable: {reason}');

export const portMissing = defineError(
  18003,
  400,
  'The URL {url} needs a port, because the scheme tcp has no usual one. Write it like {meant}.',
);

export const otherScheme = defineError(
  18005,
  400,
  'The scheme of an endpoint is fixed, and this one has {scheme}. Create another endpoint for {url}.',
);

export const notReserved = defineError(18006, 400, 'No {what} of this account is for {url}. {remedy}');

export const invalidBinding = defineError(
  18007,
  400,
  'The bindings {bindings} of the endpoint are not acceptable: {reason}.',
);

export const urlTaken = defineError(
  18009,
  409,
  'The account has the cloud endpoint {id} at {url} already. Change that one, or set pooling_enabled of both to true so that they share it.',
);

export const policyMissing = defineError(
  18011,
  400,
  'A cloud endpoint needs a traffic policy, which says what becomes of its traffic. Give traffic_policy as a text in YAML or JSON.',
);

export const endpointDescriptionTooLong = defineError(
  18012,
  400,
  'The description of the endpoint is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
);

export const endpointMetadataTooLong = defineError(
  18013,
  400,
  'The metadata of the endpoint is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
);

export const fieldMissing = defineError(18015, 400, 'A cloud endpoint needs the field {field}. Give it.');

export const poolingMixed = defineError(
  18016,
  409,
  'The endpoint {url} is in use by {users} without pooling. Set pooling_enabled there too, or choose another URL.',
);

export const urlInUse = defineError(
  18017,
  409,
  'The endpoint {url} is in use by {users}. Set pooling_enabled of all to true so that they share it, or choose another URL.',
);

export const poolFull = defineError(
  18020,
  409,
  'The endpoint {url} is shared by {limit} already, as many as are allowed. Delete or close one of them first.',
);

export const schemeMissing = defineError(
  18022,
  400,
  'The URL {url} of the endpoint has no scheme. Write it with one of http, https, tls and tcp, such as {meant}.',
);

export const wrongPort = defineError(
  18023,
  400,
  'The URL {url} has a port that endpoints of the scheme {scheme} do not have here. Leave it out, or write {port}.',
);

export const schemeNotServed = defineError(
  20379,
  400,
  'Endpoints of the scheme {scheme} are not served here, because {setting} is "off". Set it, or choose another scheme.',
);

import { defineError } from '../../errors/user-error.ts';

export const domainTaken = defineError(
  413,
  409,
  'The domain {domain} is reserved already{by}. Use that reservation, or choose another domain.',
);

export const domainInUse = defineError(
  446,
  409,
  'The domain {domain} is still used by {users}. Take it out of these first, then delete the reservation.',
);

export const invalidDomain = defineError(
  20052,
  400,
  'The domain {domain} is not a host name. Write it like app.example.com, or *.example.com for all names one label below.',
);

export const domainCertificateMissing = defineError(
  20053,
  400,
  'There is no TLS certificate {id} in this account. Upload one with POST /tls_certificates, or leave certificate_id out.',
);

export const certificateDoesNotCover = defineError(
  20054,
  400,
  'The TLS certificate {id} is not for {domain}; it is for {names}. Give the id of one that is.',
);

export const certificateManagementNotOffered = defineError(
  20055,
  400,
  'This installation does not obtain certificates automatically. Leave certificate_management_policy out, and upload a certificate with POST /tls_certificates; or ask the operator to set GATEHOUSE_ACME=on.',
);

export const certificateAndPolicy = defineError(
  20248,
  400,
  'A reserved domain has either a certificate of your own or one that is obtained automatically. Give certificate_id or certificate_management_policy, not both.',
);

export const domainNotPublic = defineError(
  20249,
  400,
  'No certificate can be obtained for {domain}: {reason}. Leave certificate_management_policy out, and upload a certificate with POST /tls_certificates.',
);

export const resolvesToNotOffered = defineError(
  20056,
  400,
  'resolves_to can only name "global": this installation has no other points of presence. Leave it out.',
);

export const domainFixed = defineError(
  20215,
  409,
  'The domain and region of a reserved domain are fixed, and this one is {domain}. Declare another one under a name of its own.',
);

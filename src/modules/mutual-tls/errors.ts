import { defineError } from '../../errors/user-error.ts';

export const authorityRequired = defineError(
  20295,
  400,
  'The mutual TLS module needs a certificate authority. Give at least one id in certificate_authority_ids.',
);

export const notAnAuthorityId = defineError(
  20296,
  400,
  'certificate_authority_ids names {id}, which is not the id of a certificate authority: it must start with "ca_".',
);

export const authorityMissing = defineError(
  20297,
  400,
  'There is no certificate authority {id} in this account. Give the id of an existing one.',
);

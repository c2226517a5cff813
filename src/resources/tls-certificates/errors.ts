import { defineError } from '../../errors/user-error.ts';

export const certificateUnreadable = defineError(1900, 400, 'The certificate cannot be read: {reason}.');

export const privateKeyMissing = defineError(
  1901,
  400,
  'private_key_pem is missing. Send the private key that belongs to the certificate.',
);

export const privateKeyEncrypted = defineError(
  1902,
  400,
  'The private key is encrypted. Send it without a passphrase.',
);

export const privateKeyUnreadable = defineError(1903, 400, 'The private key cannot be read: {reason}.');

export const wrongPemBlock = defineError(
  1911,
  400,
  '{field} holds a PEM block of type {type}. Send {expected} blocks.',
);

export const certificateDescriptionTooLong = defineError(
  1916,
  400,
  'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
);

export const certificateMetadataTooLong = defineError(
  1917,
  400,
  'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
);

export const certificateMissing = defineError(
  1919,
  400,
  'certificate_pem is missing. Send the certificate chain, leaf first.',
);

export const notPem = defineError(1920, 400, '{field} is not PEM. Send text that starts with "-----BEGIN".');

export const pemTooLarge = defineError(1921, 400, '{field} is too large: {bytes} bytes, where {limit} are allowed.');

export const noCertificateFound = defineError(1922, 400, 'No certificate was found in certificate_pem.');

export const keyMismatch = defineError(
  1923,
  400,
  'The private key does not belong to the certificate. Send the pair that was made together.',
);

export const privateKeyInCertificate = defineError(
  1924,
  400,
  'certificate_pem holds a private key. Send the certificate there and the key in private_key_pem.',
);

export const chainOutOfOrder = defineError(
  1926,
  400,
  'The certificates are not in order: number {position} did not issue the one before it. Send the leaf first, then each issuer.',
);

export const certificateInUse = defineError(
  20051,
  409,
  'The TLS certificate {certificate} is still used by {users}. Give these another certificate first, then delete it.',
);

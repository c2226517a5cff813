/** Signatures by a key of the issuer alone: with a shared secret, whoever checks tokens could make them. */
export const tokenAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

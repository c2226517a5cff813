import { defineError } from '../../errors/user-error.ts';

const allowed = 'Use letters, digits, "-", "_", "." and "/".';

export const vaultNameInvalid = defineError(23000, 400, `The name of a vault cannot be {name}. ${allowed}`);
export const vaultNameEmpty = defineError(23001, 400, 'A vault needs a name, by which policies find it. Give "name".');
export const vaultNameTooLong = defineError(
  23002,
  400,
  'The name of the vault has {bytes} bytes, where 255 are allowed. Shorten it.',
);
export const vaultNotEmpty = defineError(
  23003,
  409,
  'The vault {vault} still has secrets: {secrets}. Delete these first.',
);
export const vaultNameTaken = defineError(
  23004,
  409,
  'A vault named {name} exists already in this account ({id}). Choose another name.',
);
export const secretNameInvalid = defineError(24000, 400, `The name of a secret cannot be {name}. ${allowed}`);
export const secretNameEmpty = defineError(
  24001,
  400,
  'A secret needs a name, by which policies find it. Give "name".',
);
export const secretNameTooLong = defineError(
  24002,
  400,
  'The name of the secret has {bytes} bytes, where 255 are allowed. Shorten it.',
);
export const secretValueEmpty = defineError(
  24003,
  400,
  'A secret needs a value that is not empty: whatever compares with an empty one lets everybody in. Give "value".',
);
export const secretValueTooLong = defineError(
  24004,
  400,
  'The value of the secret has {bytes} bytes, where 16384 are allowed. Store a shorter one.',
);
export const secretNameTaken = defineError(
  24005,
  409,
  'A secret named {name} exists already in this vault ({id}). Choose another name, or change that one.',
);
export const vaultIdUnknown = defineError(
  24006,
  400,
  'vault_id {vault} is not a vault of this account. Give the id of an existing one, or its name as "vault_name".',
);
export const vaultMissing = defineError(
  24008,
  400,
  'A secret belongs to a vault. Give "vault_id", or the name of the vault as "vault_name".',
);

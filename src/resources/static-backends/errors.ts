import { defineError } from '../../errors/user-error.ts';

export const backendDescriptionTooLong = defineError(
  6503,
  400,
  'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
);

export const backendMetadataTooLong = defineError(
  6504,
  400,
  'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
);

export const addressRequired = defineError(6505, 400, 'A static backend needs an address. Give it as host:port.');

export const invalidAddress = defineError(6506, 400, 'The address {address} is not of the form host:port: {reason}');

export const addressWithoutHost = defineError(6507, 400, 'The address {address} has no host. Give it as host:port.');

export const otherFirstAddress = defineError(
  20320,
  400,
  'The address {address} is not the first of "addresses", which is {first}. Leave "address" out, or give the same.',
);

export const addressTwice = defineError(
  20321,
  400,
  'The address {address} is in "addresses" twice. Give it once, with its weight.',
);

export const noAddressInUse = defineError(
  20322,
  400,
  'All weights in "addresses" are 0, so nothing would get traffic. Give one of them a weight above 0.',
);

export const invalidHealthSetting = defineError(20323, 400, 'The {field} {value} is not acceptable: {remedy}.');

export const backendNotFound = defineError(
  6514,
  404,
  'There is no {noun} with the id {id}. Check the id, or list them to see which exist.',
);

export const backendInUse = defineError(
  20013,
  409,
  'The backend {backend} is still used by {users}. Give these another backend first, then delete it.',
);

/** Fields that errors about a rule are about, where their message does not say so in a word. */
export const ruleErrors = {
  1405: 'cidr',
  1406: 'cidr',
  1408: 'cidr',
  1409: 'cidr',
  1413: 'cidr',
  1421: 'description',
} as const;

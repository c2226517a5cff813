/** Fields that errors are about, where their message does not say so in a word. */
export const keyErrors = {
  241: 'expires_at',
  604: 'description',
  605: 'metadata',
  630: 'owner_id',
  634: 'owner_id',
  1402: 'ip_policy_ids',
  20022: 'owner_id',
} as const;

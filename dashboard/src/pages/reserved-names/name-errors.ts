/** Fields that errors are about, where their message does not say so in a word. */
export const nameErrors = {
  413: 'domain',
  20030: 'domain',
  20052: 'domain',
  20053: 'certificate_id',
  20054: 'certificate_id',
  20249: 'certificate_id',
} as const;

import { ApiError } from '../../../../client/src/index.ts';
import type { CallError } from '../../api/client.ts';

const byNumber: Readonly<Record<number, string>> = {
  1900: 'certificate_pem',
  1901: 'private_key_pem',
  1902: 'private_key_pem',
  1903: 'private_key_pem',
  1916: 'description',
  1919: 'certificate_pem',
  1922: 'certificate_pem',
  1923: 'private_key_pem',
  1924: 'certificate_pem',
  1926: 'certificate_pem',
};

/** The field that a refused upload is about; some messages name it. */
export function uploadFieldOf(error: CallError): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 400 || error.number === undefined) return undefined;
  return byNumber[error.number] ?? /\b(certificate_pem|private_key_pem)\b/.exec(error.message)?.[1];
}

import { Check, TextField } from '../../components/field.tsx';

/** Fields that errors are about, where their message does not say so in a word. */
export const fieldErrors = {
  6503: 'description',
  6504: 'metadata',
  6505: 'address',
  6506: 'address',
  6507: 'address',
  20091: 'labels',
} as const;

/** Words of the fields of a static backend. */
export function AddressFields({
  address,
  tls,
  onAddress,
  onTls,
  error,
}: {
  readonly address: string;
  readonly tls: boolean;
  readonly onAddress: (address: string) => void;
  readonly onTls: (tls: boolean) => void;
  readonly error: string | undefined;
}) {
  return (
    <>
      <TextField
        label="Address"
        mono
        placeholder="app.internal:8080"
        value={address}
        onChange={onAddress}
        hint="As host:port. An IPv6 address stands in brackets."
        error={error}
      />
      <Check isOn={tls} onChange={onTls}>
        It speaks TLS
      </Check>
    </>
  );
}

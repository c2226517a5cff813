import { DropArea } from '../../components/drop-area.tsx';
import { Field } from '../../components/field.tsx';

/** A text in PEM: pasted, chosen from a file, or dropped. It is kept in the form and nowhere else. */
export function PemField({
  label,
  hint,
  value,
  onChange,
  error,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <DropArea onText={onChange}>
          {(take) => (
            <>
              <textarea
                {...control}
                className="input mono"
                rows={4}
                value={value}
                placeholder="-----BEGIN"
                spellCheck={false}
                autoComplete="off"
                onChange={(event) => onChange(event.target.value)}
              />
              <label className="file">
                <span className="btn sm">Choose a file…</span>
                <input
                  type="file"
                  className="vh"
                  accept=".pem,.crt,.cer,.key,.txt"
                  aria-label={`${label} from a file`}
                  onChange={(event) => take(event.target.files)}
                />
                <span className="muted fine p1">or drop it here</span>
              </label>
            </>
          )}
        </DropArea>
      )}
    </Field>
  );
}

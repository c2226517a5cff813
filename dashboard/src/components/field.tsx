import { useId } from 'react';
import type { ReactNode } from 'react';

import { byteLength } from '../lib/bytes.ts';
import { Glyph } from './verdict.tsx';

interface FieldProps {
  readonly label: ReactNode;
  /** Stands beside the label: optional, or what the value is counted in. */
  readonly note?: string;
  readonly hint?: ReactNode;
  /** The server's own words about this value. */
  readonly error?: ReactNode;
}

/** Props that every control gets from the field around it. */
interface ControlProps {
  readonly id: string;
  readonly 'aria-invalid': boolean | undefined;
  readonly 'aria-describedby': string;
}

/** A label, a control, and below it the hint and the error. */
export function Field({
  label,
  note,
  hint,
  error,
  bytes,
  children,
}: FieldProps & {
  readonly bytes?: { readonly used: number; readonly limit: number } | undefined;
  readonly children: (control: ControlProps) => ReactNode;
}) {
  const id = useId();
  const over = bytes === undefined ? 0 : bytes.used - bytes.limit;
  const problem = error ?? (over > 0 ? `Too long. Shorten it by ${over} ${over === 1 ? 'byte' : 'bytes'}.` : undefined);
  const describedBy = `${id}-about`;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} {note === undefined ? null : <small>{note}</small>}
      </label>
      {children({ id, 'aria-invalid': problem === undefined ? undefined : true, 'aria-describedby': describedBy })}
      <div id={describedBy}>
        {problem === undefined ? null : (
          <p className="error" role="alert">
            <Glyph tone="deny" />
            <span>{problem}</span>
          </p>
        )}
        {hint === undefined && bytes === undefined ? null : (
          <div className="hint">
            <span>{hint}</span>
            {bytes === undefined ? null : (
              <span className={over > 0 ? 'bytes over' : 'bytes'}>
                {bytes.used} of {bytes.limit} bytes
              </span>
            )}
          </div>
        )}
      </div>
    </div>
  );
}

export interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Most bytes in UTF-8 that the server takes. */
  readonly limitBytes?: number;
  readonly mono?: boolean;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly startsFocused?: boolean;
  readonly type?: 'text' | 'password' | 'date' | 'number';
  readonly autoComplete?: string;
}

/** One line of text, or several with `rows`. */
export function TextField(props: TextFieldProps) {
  const { value, onChange, limitBytes, mono = false, rows, startsFocused = false, type = 'text' } = props;
  const { placeholder, autoComplete = 'off', ...field } = props;
  const bytes = limitBytes === undefined ? undefined : { used: byteLength(value), limit: limitBytes };
  const shared = {
    className: mono ? 'input mono' : 'input',
    value,
    placeholder,
    autoComplete,
    spellCheck: false,
    'data-autofocus': startsFocused ? true : undefined,
  };
  return (
    <Field {...field} bytes={bytes}>
      {(control) =>
        rows === undefined ? (
          <input {...control} {...shared} type={type} onChange={(event) => onChange(event.target.value)} />
        ) : (
          <textarea {...control} {...shared} rows={rows} onChange={(event) => onChange(event.target.value)} />
        )
      }
    </Field>
  );
}

export function SelectField<Value extends string>({
  value,
  options,
  onChange,
  ...field
}: FieldProps & {
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChange: (value: Value) => void;
}) {
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          className="input"
          value={value}
          // The options are the only values that it can have.
          onChange={(event) => onChange(event.target.value as Value)}
        >
          {options.map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Check({
  isOn,
  onChange,
  children,
}: {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly children: ReactNode;
}) {
  return (
    <label className="check">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      <span>{children}</span>
    </label>
  );
}

/** Most bytes of the two texts that every resource has. */
export const descriptionBytes = 255;
export const metadataBytes = 4096;

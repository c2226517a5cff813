import type { ReactNode } from 'react';

import { Check, descriptionBytes, metadataBytes, TextField } from '../components/field.tsx';
import type { TextFieldProps } from '../components/field.tsx';
import { mapOf, PairsField, pairsOf } from '../components/list-fields.tsx';
import type { Pair } from '../components/list-fields.tsx';
import type { FormField, InputProps } from './describe.ts';

type Form = 'create' | 'edit';

/** A field with a value of a known type. Without `from` and `toBody` it stands for the field of the same name. */
export function field<Row, Value>({
  name,
  start,
  from,
  toBody,
  form,
  isSecret = false,
  Input,
}: {
  readonly name: string;
  readonly start: Value | ((params: URLSearchParams) => Value);
  readonly from?: (row: Row) => Value;
  readonly toBody?: (value: Value, form: Form) => object;
  readonly form?: Form | undefined;
  readonly isSecret?: boolean;
  readonly Input: (props: InputProps<Value>) => ReactNode;
}): FormField<Row> {
  // A form hands each field only the values that the field itself has made.
  const made = {
    name,
    start: typeof start === 'function' ? start : () => start,
    from: from ?? ((row: Row) => (row as Readonly<Record<string, unknown>>)[name] ?? start),
    toBody: toBody ?? ((value: Value) => ({ [name]: value })),
    isSecret,
    Input,
    ...(form === undefined ? {} : { form }),
  };
  return made as unknown as FormField<Row>;
}

type TextOptions = Omit<TextFieldProps, 'value' | 'onChange' | 'error'> & { readonly form?: Form };

/** One text. */
export function text<Row>(name: string, { form, ...options }: TextOptions): FormField<Row> {
  return field<Row, string>({
    name,
    form,
    start: '',
    Input: ({ value, onChange, error }) => <TextField {...options} value={value} onChange={onChange} error={error} />,
  });
}

export function check<Row>(name: string, words: string, form?: Form): FormField<Row> {
  return field<Row, boolean>({
    name,
    form,
    start: false,
    Input: ({ value, onChange }) => (
      <Check isOn={value} onChange={onChange}>
        {words}
      </Check>
    ),
  });
}

/** A map of texts, as lines of a name and a value. */
export function pairs<Row>(
  name: string,
  words: { readonly label: string; readonly note: string; readonly nouns: Pair; readonly addWords: string },
): FormField<Row> {
  return field<Row, readonly Pair[]>({
    name,
    start: [['', '']],
    // The API shows such a field as a map of texts.
    from: (row) => pairsOf((row as Record<string, Record<string, string>>)[name] ?? {}),
    toBody: (value) => ({ [name]: mapOf(value) }),
    Input: ({ value, onChange, error }) => <PairsField {...words} pairs={value} onChange={onChange} error={error} />,
  });
}

export function description<Row>(options: Partial<TextOptions> = {}): FormField<Row> {
  return text('description', {
    label: 'Description',
    note: 'optional',
    hint: 'What it is for. Shown in lists.',
    limitBytes: descriptionBytes,
    ...options,
  });
}

export function metadata<Row>(): FormField<Row> {
  return text('metadata', {
    label: 'Metadata',
    note: 'optional',
    mono: true,
    rows: 3,
    limitBytes: metadataBytes,
    form: 'edit',
  });
}

import { useState } from 'react';

import type { EventDestination } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/queries.ts';
import { Check, SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { newSecret, targetFields, targetOf, targetTitles } from './target-form.ts';
import type { TargetName } from './target-form.ts';
import { kindOf, placeOf } from './target-words.ts';
import { topics } from './topics.ts';

const first: readonly string[] = ['refusals', 'backends', 'certificates'];

/** Says what somebody is to be told of, and whom to tell. */
export function TellMeDialog({
  destinations,
  onClose,
}: {
  readonly destinations: readonly EventDestination[];
  readonly onClose: () => void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(first));
  const [whom, setWhom] = useState<string>(destinations[0]?.id ?? 'email');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({ secret: newSecret() });
  const [made, setMade] = useState<{ readonly key: string; readonly id: string }>();
  const types = topics.filter(({ id }) => chosen.has(id)).flatMap((topic) => topic.types);
  const known = destinations.find(({ id }) => id === whom);
  const kind = known === undefined ? (whom as TargetName) : undefined;
  const fields = kind === undefined ? [] : targetFields[kind];
  const missing = fields.find(({ name, isOptional }) => isOptional !== true && (values[name] ?? '').trim() === '');
  const tell = useAct(async () => {
    let id = known?.id;
    if (kind !== undefined) {
      const target = targetOf(kind, values);
      const key = JSON.stringify(target);
      // Made by an attempt whose second half failed.
      id = made?.key === key ? made.id : (await client.call('EventDestinationsCreate', { body: { target } })).id;
      setMade({ key, id });
    }
    if (id === undefined) return;
    await client.call('EventSubscriptionsCreate', {
      body: { sources: types.map((type) => ({ type })), destination_ids: [id] },
    });
    toast('You are told from now on.');
    onClose();
  });
  const options: readonly (readonly [string, string])[] = [
    ...destinations.map((each) => [each.id, `${placeOf(each)} (${kindOf(each)})`] as const),
    ...Object.entries(targetTitles),
  ];
  return (
    <FormDialog
      title="Tell me when"
      act="Tell me"
      missing={types.length === 0 ? 'Choose what to be told of' : missing?.missing}
      isPending={tell.isPending}
      error={tell.error}
      onSubmit={() => void tell.run()}
      onClose={onClose}
    >
      <fieldset className="stack tight plain">
        <legend className="label">What</legend>
        {topics.map(({ id, title, hint }) => (
          <Check
            key={id}
            isOn={chosen.has(id)}
            onChange={(isOn) => {
              const next = new Set(chosen);
              if (isOn) next.add(id);
              else next.delete(id);
              setChosen(next);
            }}
          >
            {title} <small className="soft">{hint}</small>
          </Check>
        ))}
      </fieldset>
      <SelectField label="Whom" value={whom} options={options} onChange={setWhom} />
      {fields.map(({ name, label, hint, placeholder, isMono, note }) => (
        <TextField
          key={name}
          label={label}
          {...(note === undefined ? {} : { note })}
          hint={hint}
          value={values[name] ?? ''}
          placeholder={placeholder}
          mono={isMono === true}
          onChange={(value) => setValues({ ...values, [name]: value })}
        />
      ))}
    </FormDialog>
  );
}

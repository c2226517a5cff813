import type { ReactNode } from 'react';

import type { Edit } from '../api/edit.ts';
import { useUrlState } from '../lib/url-state.ts';
import { Button } from './button.tsx';
import { descriptionBytes, metadataBytes, TextField } from './field.tsx';
import { Form } from './form.tsx';
import { Panel } from './page.tsx';
import { EditProblem } from './problem.tsx';

/** An edit in place: what went wrong, the fields, Save and Cancel. */
export function EditPanel<Document extends { readonly id?: string }, Values extends object>({
  label,
  edit,
  onAllow,
  onClose,
  children,
}: {
  /** Such as "Edit the edge". */
  readonly label: string;
  readonly edit: Edit<Document, Values>;
  /** Lets the person's own address in where the change would lock it out. */
  readonly onAllow?: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  return (
    <Panel title="Edit">
      <Form label={label} onSubmit={() => void edit.save()}>
        <EditProblem edit={edit} {...(onAllow === undefined ? {} : { onAllow })} />
        {children}
        <div className="actions">
          <Button look="primary" type="submit" disabled={!edit.isChanged || edit.isPending}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </Form>
    </Panel>
  );
}

/** The two texts that every resource has. */
export interface About {
  readonly description: string;
  readonly metadata: string;
}

export function aboutOf({
  description = '',
  metadata = '',
}: {
  readonly description?: string;
  readonly metadata?: string;
}): About {
  return { description, metadata };
}

export function AboutFields({
  values,
  onChange,
  errorAt,
}: {
  readonly values: About;
  readonly onChange: (part: Partial<About>) => void;
  readonly errorAt: (name: keyof About) => string | undefined;
}) {
  return (
    <>
      <DescriptionField
        value={values.description}
        onChange={(description) => onChange({ description })}
        error={errorAt('description')}
      />
      <MetadataField
        value={values.metadata}
        onChange={(metadata) => onChange({ metadata })}
        error={errorAt('metadata')}
      />
    </>
  );
}

interface TextProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
}

export function MetadataField(props: TextProps) {
  return <TextField label="Metadata" note="optional" mono rows={3} limitBytes={metadataBytes} {...props} />;
}

export function DescriptionField({
  startsFocused = false,
  hint = 'What it is for. Shown in lists.',
  ...props
}: TextProps & { readonly startsFocused?: boolean; readonly hint?: string }) {
  return (
    <TextField
      label="Description"
      note="optional"
      hint={hint}
      limitBytes={descriptionBytes}
      startsFocused={startsFocused}
      {...props}
    />
  );
}

/** Edit and deletion, as every page of one thing has them. */
export function EditActs({ between }: { readonly between?: ReactNode }) {
  const [, setParams] = useUrlState();
  return (
    <>
      <Button icon="edit" shortcut="e" onClick={() => setParams({ edit: '1' })}>
        Edit
      </Button>
      {between}
      <Button look="danger-quiet" onClick={() => setParams({ delete: '1' })}>
        Delete…
      </Button>
    </>
  );
}

import { useState } from 'react';
import type { ReactNode } from 'react';

import type { ListId, OperationId, Reply } from '../../../client/src/index.ts';
import type { Entry } from '../../../client/src/index.ts';
import type { CallError } from '../api/client.ts';
import { client } from '../api/client.ts';
import { useEdit } from '../api/edit.ts';
import type { Edit, SaveOptions } from '../api/edit.ts';
import { fieldOfError } from '../api/field-errors.ts';
import { useAct } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Form } from '../components/form.tsx';
import { Panel } from '../components/page.tsx';
import { EditProblem } from '../components/problem.tsx';
import { toast } from '../components/toast.tsx';
import { useInputBefore, useKeepInput } from '../lib/kept-input.ts';
import { useLanding, useUrlState } from '../lib/url-state.ts';
import type { AllowComponent, Allowed, FormField, Resource, Values } from './describe.ts';

/** Lists and operations of a resource are named alike: BotUsersList, BotUsersCreate. One of them stands for the types. */
export function operationOf<Verb extends string>(list: ListId, verb: Verb): `BotUsers${Verb}` {
  return `${list.replace(/List$/, '')}${verb}` as `BotUsers${Verb}` & OperationId;
}

export function Inputs<Row>({
  fields,
  values,
  errorAt,
  callError,
  onChange,
}: {
  readonly fields: readonly FormField<Row>[];
  readonly values: Values;
  readonly errorAt: (name: string) => string | undefined;
  readonly callError: CallError | undefined;
  readonly onChange: (name: string, value: unknown) => void;
}) {
  return fields.map(({ name, Input }) => (
    <Input
      key={name}
      value={values[name]}
      onChange={(value) => onChange(name, value)}
      error={errorAt(name)}
      callError={callError}
    />
  ));
}

/** Bodies of all fields that have a value here. */
function bodyOf<Row>(fields: readonly FormField<Row>[], values: Values, form: 'create' | 'edit'): object {
  const parts = fields.filter(({ name }) => name in values).map(({ name, toBody }) => toBody(values[name], form));
  return Object.assign({}, ...parts) as object;
}

function withoutSecrets<Row>(fields: readonly FormField<Row>[], values: Values): Values {
  const secret = new Set(fields.filter(({ isSecret }) => isSecret === true).map(({ name }) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !secret.has(name)));
}

/** The dialog for a new thing. `kind` is a field above the others, by which another resource can be chosen. */
export function CreateDialog<Id extends ListId>({
  resource,
  kind,
}: {
  readonly resource: Resource<Id>;
  readonly kind?: ReactNode;
}) {
  const { list, noun, path, nameOf, errors = {}, create } = resource;
  const [params, setParams] = useUrlState();
  const land = useLanding();
  const session = useSession();
  const fields = resource.fields.filter(({ form }) => form !== 'edit');
  const [firstParams] = useState(params);
  const form = `${session.principal.id} ${list} create`;
  const [typed, setTyped] = useState<Values>(useInputBefore(form));
  useKeepInput(form, withoutSecrets(fields, typed));
  const [created, setCreated] = useState<Entry<Id>>();
  const values = { ...Object.fromEntries(fields.map(({ name, start }) => [name, start(firstParams)])), ...typed };
  const change = useAct(() => {
    const body = bodyOf(fields, values, 'create');
    const set = (part: Values): void => setTyped((before) => ({ ...before, ...part }));
    if (create.send !== undefined) return create.send(body, values, set, session);
    // The body is made of fields of this operation.
    return client.call(operationOf(list, 'Create'), { body } as never) as Promise<unknown> as Promise<Entry<Id>>;
  });
  const at = change.error === undefined ? undefined : fieldOfError(change.error, values, errors);
  const close = (): void => setParams({ create: undefined, backend: undefined, from: undefined });
  const submit = async (): Promise<void> => {
    const row = await change.run();
    if (row === undefined) return;
    if (create.Created !== undefined) {
      setCreated(row);
      return;
    }
    toast(create.said?.(row) ?? `Created the ${noun[0]} ${nameOf(row)}.`);
    // Every resource has an id.
    land(`${path}/${(row as { readonly id: string }).id}`);
  };
  if (created !== undefined && create.Created !== undefined) {
    return <create.Created document={created} onClose={close} />;
  }
  return (
    <FormDialog
      title={create.title}
      act={create.act}
      large={create.isLarge}
      missing={create.missing?.(values)}
      isPending={change.isPending}
      error={at === undefined ? change.error : undefined}
      onSubmit={() => void submit()}
      onClose={close}
    >
      {kind}
      {create.intro === undefined ? null : <p className="soft">{create.intro}</p>}
      <Inputs
        fields={fields}
        values={values}
        errorAt={(name) => (name === at ? change.error?.message : undefined)}
        callError={change.error}
        onChange={(name, value) => {
          change.reset();
          setTyped((before) => ({ ...before, [name]: value }));
        }}
      />
      {create.note === undefined ? null : <p className="muted fine">{create.note}</p>}
    </FormDialog>
  );
}

/** An edit in place: what went wrong, the fields, Save and Cancel. */
export function EditPanel<Row>({
  noun,
  fields: all,
  errors,
  seen,
  reread,
  send,
  intro,
  Allow,
  onClose,
}: {
  /** Such as "edge". */
  readonly noun: string;
  readonly fields: readonly FormField<Row>[];
  readonly errors?: Readonly<Record<number, string>> | undefined;
  readonly seen: Reply<Row>;
  readonly reread: () => Promise<Reply<Row>>;
  /** `changed` is what the fields that were changed send. */
  readonly send: (changed: object, options: SaveOptions, base: Row) => Promise<unknown>;
  readonly intro?: string | undefined;
  readonly Allow?: AllowComponent<Row> | undefined;
  readonly onClose: () => void;
}) {
  const fields = all.filter(({ form }) => form !== 'create');
  // Every document has an id.
  const { id } = seen.document as { readonly id?: string };
  const form = `${useSession().principal.id} ${id} edit`;
  const { etag = seen.etag, ...start } = useInputBefore(form) as Values & Pick<Reply<Row>, 'etag'>;
  const edit = useEdit<Row, Values>({
    // A change that somebody has made since then is shown before it is overwritten.
    seen: { ...seen, etag },
    start,
    reread,
    toValues: (row) => Object.fromEntries(fields.map(({ name, from }) => [name, from(row)])),
    send: (changed, options, base) => send(bodyOf(fields, changed, 'edit'), options, base),
    fieldsByError: errors ?? {},
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  const typed = fields.filter(
    ({ name, from }) => JSON.stringify(edit.values[name]) !== JSON.stringify(from(seen.document)),
  );
  const changed = Object.fromEntries(typed.map(({ name }) => [name, edit.values[name]]));
  useKeepInput(form, { ...withoutSecrets(fields, changed), etag });
  const show = (allow?: Allowed) => (
    <Panel title="Edit">
      <Form label={`Edit the ${noun}`} onSubmit={allow?.rehearsal?.open ?? (() => void edit.save())}>
        {/* Every document has an id. */}
        <EditProblem
          edit={edit as unknown as Edit<{ id?: string }, Values>}
          {...(allow?.run === undefined ? {} : { onAllow: allow.run })}
        />
        {allow?.problem}
        {intro === undefined ? null : <p className="soft">{intro}</p>}
        <Inputs
          fields={fields}
          values={edit.values}
          errorAt={edit.errorAt}
          callError={edit.error}
          onChange={edit.set}
        />
        <div className="actions">
          <Button look="primary" type="submit" disabled={!edit.isChanged || edit.isPending}>
            {allow?.rehearsal?.shows === true ? 'See who would notice' : 'Save'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </Form>
      {allow?.rehearsal?.sheet}
    </Panel>
  );
  return Allow === undefined ? show() : <Allow edit={edit} document={seen.document} render={show} />;
}

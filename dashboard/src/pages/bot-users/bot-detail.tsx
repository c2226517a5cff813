import { Link, useLocation } from 'wouter';

import type { BotUser, Reply } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useChange, useList, useOne } from '../../api/queries.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { Detail } from '../../components/detail.tsx';
import { EditActs } from '../../components/edit-panel.tsx';
import { Check, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { EditProblem } from '../../components/problem.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Empty } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { countOf, nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { nameBytes, nameErrors } from './bot-fields.ts';
import { BotState } from './bot-list.tsx';

export function BotDetail({ id }: { readonly id: string }) {
  const read = useOne('BotUsersGet', { path: { id } });
  return (
    <Detail read={read} noun="bot" listPath="/bot-users">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

function Shown({ reply, reread }: { readonly reply: Reply<BotUser>; readonly reread: () => Promise<Reply<BotUser>> }) {
  const bot = reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite('admins');
  useCrumb(bot.name);
  const isEditing = params.has('edit') && mayWrite;
  return (
    <>
      <PageHead
        title={bot.name}
        badge={<BotState isActive={bot.active} />}
        lead={bot.active ? undefined : 'Its keys are refused with 403 until it is active again.'}
        actions={mayWrite && !isEditing ? <EditActs /> : undefined}
      />
      <LookOnly what="bots" who="admins" />
      {isEditing ? (
        <EditBot seen={reply} reread={reread} onClose={() => setParams({ edit: undefined })} />
      ) : (
        <Panel>
          <Facts
            facts={[
              ['Created', <Time key="at" at={bot.created_at} />],
              ['Id', <Id key="id" id={bot.id} />],
            ]}
          />
        </Panel>
      )}
      <Keys ownerId={bot.id} />
      {params.has('delete') && mayWrite ? (
        <DeleteBot bot={bot} onClose={() => setParams({ delete: undefined })} />
      ) : null}
    </>
  );
}

function EditBot({
  seen,
  reread,
  onClose,
}: {
  readonly seen: Reply<BotUser>;
  readonly reread: () => Promise<Reply<BotUser>>;
  readonly onClose: () => void;
}) {
  const { id } = seen.document;
  const edit = useEdit({
    seen,
    reread,
    toValues: ({ name, active }: BotUser) => ({ name, active }),
    send: (body, options) => client.call('BotUsersUpdate', { path: { id }, body, ...options }),
    fieldsByError: nameErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <Panel title="Edit">
      <Form label="Edit the bot" onSubmit={() => void edit.save()}>
        <EditProblem edit={edit} />
        <TextField
          label="Name"
          value={edit.values.name}
          onChange={(value) => edit.set('name', value)}
          limitBytes={nameBytes}
          error={edit.errorAt('name')}
        />
        <Check isOn={edit.values.active} onChange={(value) => edit.set('active', value)}>
          Active. An inactive bot’s keys are refused from that moment, and work again when it is active.
        </Check>
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

function Keys({ ownerId }: { readonly ownerId: string }) {
  const { data = [] } = useList('ApiKeysList');
  const keys = data.filter(({ owner_id: owner }) => owner === ownerId);
  return (
    <Panel title="API keys" note={String(keys.length)} flush>
      {keys.length === 0 ? (
        <Empty icon="key" title="It has no keys">
          Create one on the page of API keys, with this bot as its owner.
        </Empty>
      ) : (
        <ul className="list">
          {keys.map((key) => (
            <li key={key.id}>
              <Link className="grow" to={`/api-keys/${key.id}`}>
                {nameOf(key)}
              </Link>
              <span className="muted">
                {key.last_used_at === undefined ? 'Never used' : <Time at={key.last_used_at} />}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function DeleteBot({ bot, onClose }: { readonly bot: BotUser; readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const change = useChange('BotUsersDelete');
  const { data = [] } = useList('ApiKeysList');
  const keys = data.filter(({ owner_id: owner }) => owner === bot.id);
  const run = async (options: { allowLockout?: boolean }): Promise<void> => {
    if ((await change.run({ path: { id: bot.id }, ...options })) === undefined) return;
    toast(`Deleted the bot ${bot.name}.`);
    navigate('/bot-users');
  };
  return (
    <DeleteDialog
      title={`Delete the bot “${bot.name}”?`}
      lost={
        keys.length === 0
          ? 'It has no API keys. This cannot be undone.'
          : `${countOf(keys.length, 'API key goes', 'API keys go')} with it, and calls with them fail from this moment. This cannot be undone.`
      }
      uses={
        keys.length === 0 ? undefined : (
          <ul className="rules">
            {keys.map((key) => (
              <li key={key.id}>
                <span className="grow">{nameOf(key)}</span>
                <span className="end">
                  {key.last_used_at === undefined ? 'never used' : <Time at={key.last_used_at} />}
                </span>
              </li>
            ))}
          </ul>
        )
      }
      typeName={keys.length === 0 ? undefined : bot.name}
      act="Delete bot"
      isPending={change.isPending}
      error={change.error}
      onDelete={(options) => void run(options)}
      onClose={onClose}
    />
  );
}

import { Link, useLocation } from 'wouter';

import type { Credential, Reply } from '../../../../client/src/index.ts';
import { demanding, useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useOwners } from '../../api/owners.ts';
import { useList, useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Id } from '../../components/copy.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { Detail } from '../../components/detail.tsx';
import { AboutFields, aboutOf, EditActs, EditPanel } from '../../components/edit-panel.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { Empty } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { countOf, nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { AclField, aclOf, credentialErrors } from './acl-field.tsx';

export function CredentialDetail({ id }: { readonly id: string }) {
  const read = useOne('CredentialsGet', { path: { id } });
  return (
    <Detail read={read} noun="credential" listPath="/agents?tab=credentials">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

interface Props {
  readonly reply: Reply<Credential>;
  readonly reread: () => Promise<Reply<Credential>>;
}

function Shown({ reply, reread }: Props) {
  const credential = reply.document;
  const [params, setParams] = useUrlState();
  const { principal, admin, read_only: isReadOnly } = useSession();
  const owner = useOwners()(credential.owner_id);
  const mayWrite = !isReadOnly && (admin || credential.owner_id === principal.id);
  const isEditing = params.has('edit') && mayWrite;
  useCrumb(nameOf(credential));
  return (
    <>
      <PageHead title={nameOf(credential)} actions={mayWrite && !isEditing ? <EditActs /> : undefined} />
      {isEditing ? (
        <EditCredential reply={reply} reread={reread} onClose={() => setParams({ edit: undefined })} />
      ) : (
        <Panel>
          <Facts
            facts={[
              ['Owner', `${owner.name}, ${owner.kind}`],
              ['May bind', <Acl key="acl" acl={credential.acl} />],
              ['Created', <Time key="at" at={credential.created_at} />],
              ['Id', <Id key="id" id={credential.id} />],
              credential.metadata === undefined
                ? undefined
                : ['Metadata', <code key="metadata">{credential.metadata}</code>],
            ]}
          />
        </Panel>
      )}
      <Sessions credentialId={credential.id} />
      {params.has('delete') && mayWrite ? (
        <DeleteCredential reply={reply} onClose={() => setParams({ delete: undefined })} />
      ) : null}
    </>
  );
}

function Acl({ acl }: { readonly acl: readonly string[] }) {
  if (acl.length === 0) return 'Everything';
  return acl.map((rule) => (
    <div key={rule}>
      <code>{rule}</code>
    </div>
  ));
}

function useSessionsOf(credentialId: string) {
  const { data = [] } = useList('TunnelSessionsList');
  return data.filter(({ credential }) => credential.id === credentialId);
}

function Sessions({ credentialId }: { readonly credentialId: string }) {
  const sessions = useSessionsOf(credentialId);
  return (
    <Panel title="Sessions" note={String(sessions.length)} flush>
      {sessions.length === 0 ? (
        <Empty icon="agent" title="No agent is connected with it">
          A session appears here when an agent signs in with its token.
        </Empty>
      ) : (
        <ul className="list">
          {sessions.map((session) => (
            <li key={session.id}>
              <Link className="grow" to={`/agents/${session.id}`}>
                {session.ip}
              </Link>
              <span className="muted">
                {session.os} · <Time at={session.started_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function EditCredential({ reply, reread, onClose }: Props & { readonly onClose: () => void }) {
  const { id } = reply.document;
  const edit = useEdit({
    seen: reply,
    reread,
    toValues: (credential: Credential) => ({ ...aboutOf(credential), acl: credential.acl }),
    send: ({ acl, ...rest }, options) =>
      client.call('CredentialsUpdate', {
        path: { id },
        body: { ...rest, ...(acl === undefined ? {} : { acl: aclOf(acl) }) },
        ...options,
      }),
    fieldsByError: credentialErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the credential" edit={edit} onClose={onClose}>
      <AclField acl={edit.values.acl} onChange={(acl) => edit.set('acl', [...acl])} error={edit.error} />
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}

function DeleteCredential({ reply, onClose }: { readonly reply: Reply<Credential>; readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const action = useAction();
  const credential = reply.document;
  const name = nameOf(credential);
  const sessions = useSessionsOf(credential.id);
  const run = async (): Promise<void> => {
    const input = { path: { id: credential.id }, ...demanding(reply.etag) };
    if (!(await action.run(() => client.call('CredentialsDelete', input)))) return;
    toast(`Deleted the credential ${name}.`);
    navigate('/agents?tab=credentials');
  };
  return (
    <DeleteDialog
      title={`Delete the credential “${name}”?`}
      lost={`Agents with its token cannot sign in from this moment${sessions.length === 0 ? '' : `, and ${countOf(sessions.length, 'session ends', 'sessions end')}`}. This cannot be undone: its token cannot be made again.`}
      uses={
        sessions.length === 0 ? undefined : (
          <ul className="rules">
            {sessions.map((session) => (
              <li key={session.id}>
                <Glyph tone="warn" />
                <code className="grow">{session.ip}</code>
                <span className="end">{session.os}</span>
              </li>
            ))}
          </ul>
        )
      }
      typeName={sessions.length === 0 ? undefined : name}
      act="Delete credential"
      isPending={action.isPending}
      error={action.error}
      onDelete={() => void run()}
      onClose={onClose}
    />
  );
}

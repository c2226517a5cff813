import { useMemo } from 'react';

import type { User } from '../../../../client/src/index.ts';
import { useChange, useList, useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import type { PageProps } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { textHas } from '../../lib/filter.ts';
import { nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { nameColumn } from '../../resource/columns.tsx';
import type { Resource, Rows as DescribedRows } from '../../resource/describe.ts';
import { field, text } from '../../resource/fields.tsx';
import { CreateButton, Rows } from '../../resource/lists.tsx';
import { ResourcePage, standardFacts } from '../../resource/page.tsx';
import { UsesPanel } from '../../resource/uses.tsx';
import { DeactivateDialog } from './deactivate-dialog.tsx';
import { InvitationsPanel } from './invitations-panel.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { roleNames, roles, roleWords } from './user-words.ts';
import type { Role } from './user-words.ts';

const path = '/users';

const users: Resource<'UsersList'> = {
  list: 'UsersList',
  noun: ['user', 'users'],
  icon: 'users',
  path,
  mayWrite: ({ id }, { role, principal }) => role === 'admin' || id === principal.id,
  filterHint: 'Name, mail address or id',
  whenEmpty: ['No users', 'A user is a person who may sign in here.'],
  Rows: ({ render }) => {
    const mayWrite = useMayWrite('admins');
    const { principal } = useSession();
    const rows = useMemo(() => rowsOf(principal.id, mayWrite), [principal.id, mayWrite]);
    return render(rows);
  },
  nameOf: ({ name }) => name,
  fields: [
    text('name', { label: 'Name', limitBytes: 255, startsFocused: true, hint: 'Unique in the account.' }),
    field({
      name: 'email',
      start: '',
      Input: ({ value, onChange, error }) => {
        const { role } = useSession();
        if (role !== 'admin') return null;
        return <TextField label="E-mail address" note="optional" value={value} onChange={onChange} error={error} />;
      },
    }),
  ],
  // Users are not made here: an invitation is.
  create: { title: 'Invite someone', act: 'Invite someone…' },
  Removal: () => null,
  badge: (user) => <State user={user} />,
  lead: ({ id, role }, { principal }) =>
    `${id === principal.id ? 'This is you. ' : ''}${roleNames[role]}: ${roleWords[role]}`,
  acts: ({ document, mayWrite, isEditing }) => (mayWrite && !isEditing ? <Acts user={document} /> : undefined),
  facts: (user) => [
    ['Role', roleNames[user.role]],
    ['E-mail address', user.email ?? 'None'],
    ['Signs in', <SignsIn key="in" user={user} />],
    ['Last seen', user.last_seen_at === undefined ? 'Never' : <Time key="seen" at={user.last_seen_at} />],
    ...standardFacts(user, 'Since'),
  ],
  Body: ({ document }) => <Keys user={document} />,
};

export function Page({ id }: PageProps) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite('admins');
  const leaving = params.get('deactivate');
  const dialog =
    leaving === null || !mayWrite ? null : (
      <Deactivation id={leaving} onClose={() => setParams({ deactivate: undefined })} />
    );
  if (id !== undefined) {
    return (
      <>
        <ResourcePage key={id} resource={users} id={id} />
        {dialog}
      </>
    );
  }
  const invite = mayWrite ? <CreateButton>Invite someone…</CreateButton> : undefined;
  return (
    <>
      <PageHead
        title="Users"
        lead="People who may sign in here. A role applies to the dashboard, the API and the command line."
        actions={invite}
      />
      <LookOnly what="users" who="admins" />
      <Rows listed={users} action={invite} />
      <InvitationsPanel />
      <Panel title="What a role may do">
        <Facts list facts={roles.map((role) => [roleNames[role], roleWords[role]] as const)} />
      </Panel>
      {params.has('create') && mayWrite ? <InviteDialog onClose={() => setParams({ create: undefined })} /> : null}
      {dialog}
    </>
  );
}

function rowsOf(ownId: string, mayWrite: boolean): DescribedRows<User> {
  const acts: Column<User> = {
    id: 'acts',
    head: '',
    isRight: true,
    isNarrow: true,
    cell: (user) =>
      user.id === ownId ? (
        <ButtonLink small to={`${path}/${ownId}`}>
          Your profile
        </ButtonLink>
      ) : (
        <ActiveButton user={user} small />
      ),
  };
  return {
    columns: [
      nameColumn({
        head: 'Name',
        width: '30%',
        path,
        name: ({ id, name }) => (id === ownId ? `${name} (you)` : name),
        sub: (user) => (
          <>
            {user.email === undefined ? null : <span className="sub">{user.email}</span>}
            <span className="sub m1">
              {roleNames[user.role]}, {user.active ? 'active' : 'deactivated'}
            </span>
          </>
        ),
      }),
      {
        id: 'role',
        head: 'Role',
        priority: 'p1',
        sortBy: ({ role }) => roles.indexOf(role),
        cell: (user) =>
          mayWrite && user.active && user.id !== ownId ? <RoleChoice user={user} /> : roleNames[user.role],
      },
      {
        id: 'state',
        head: 'State',
        priority: 'p2',
        sortBy: ({ active }) => (active ? 0 : 1),
        cell: (user) => <State user={user} />,
      },
      {
        id: 'seen',
        head: 'Last seen',
        priority: 'p2',
        sortBy: ({ last_seen_at: at = '' }) => at,
        cell: ({ last_seen_at: at }) => (at === undefined ? <span className="muted">never</span> : <Time at={at} />),
      },
      {
        id: 'signs-in',
        head: 'Signs in',
        priority: 'p3',
        sortBy: ({ sign_in: login }) => login?.issuer ?? '',
        cell: (user) => <SignsIn user={user} />,
      },
      { id: 'keys', head: 'Keys', priority: 'p3', isNumber: true, cell: ({ api_keys: keys }) => keys },
      ...(mayWrite ? [acts] : []),
    ],
    filters: [
      {
        name: 'role',
        label: 'Role',
        options: roleNames,
        matches: ({ role }, value) => role === value,
        filter: (value) => `obj.role == "${value}"`,
      },
      {
        name: 'state',
        label: 'State',
        options: { active: 'active', deactivated: 'deactivated' },
        matches: ({ active }, value) => active === (value === 'active'),
        filter: (value) => `obj.active == ${value === 'active'}`,
      },
    ],
    searchFilter: textHas('name', 'email', 'id'),
  };
}

/** How the user gets into the dashboard: with an identity provider, a token, or either. */
function SignsIn({ user: { id, sign_in: login, api_keys: keys } }: { readonly user: User }) {
  const { principal, provider } = useSession();
  const ways = [
    ...(login === undefined ? [] : [hostOf(login.issuer)]),
    ...(keys === 0 ? [] : [login === undefined ? 'with a token' : 'a token']),
  ];
  if (ways.length === 0) return <span className="muted">not yet</span>;
  return (
    <>
      {login === undefined ? '' : 'with '}
      {ways.join(', or ')}
      {login?.role_by_group === true ? <span className="sub">the role comes from groups there</span> : null}
      {id === principal.id && provider !== undefined ? (
        <span className="sub">signed in with {provider} now</span>
      ) : null}
    </>
  );
}

function hostOf(issuer: string): string {
  return URL.parse(issuer)?.host ?? issuer;
}

function State({ user: { active } }: { readonly user: User }) {
  return <Verdict tone={active ? 'allow' : 'deny'}>{active ? 'Active' : 'Deactivated'}</Verdict>;
}

/** The role, which is saved as soon as another one is chosen. */
function RoleChoice({ user: { id, name, role } }: { readonly user: User }) {
  const { run, isPending, error } = useChange('UsersUpdate');
  const choose = async (chosen: Role): Promise<void> => {
    if ((await run({ path: { id }, body: { role: chosen } })) !== undefined)
      toast(`${name}: ${roleNames[role]} changed to ${roleNames[chosen]}.`);
  };
  return (
    <>
      <select
        className="input"
        aria-label={`Role of ${name}`}
        value={role}
        disabled={isPending}
        // The options are the only values that it can have.
        onChange={(event) => void choose(event.target.value as Role)}
      >
        {roles.map((each) => (
          <option key={each} value={each}>
            {roleNames[each]}
          </option>
        ))}
      </select>
      <Problem error={error} />
    </>
  );
}

function Acts({ user }: { readonly user: User }) {
  const [, setParams] = useUrlState();
  const { principal } = useSession();
  return (
    <>
      <Button icon="edit" shortcut="e" onClick={() => setParams({ edit: '1' })}>
        Edit
      </Button>
      {user.id === principal.id ? null : <ActiveButton user={user} />}
    </>
  );
}

function ActiveButton({
  user: { id, name, active },
  small = false,
}: {
  readonly user: User;
  readonly small?: boolean;
}) {
  const [, setParams] = useUrlState();
  const { run, isPending } = useChange('UsersUpdate');
  if (active) {
    return (
      <Button
        small={small}
        {...(small ? {} : { look: 'danger-quiet' as const })}
        onClick={() => setParams({ deactivate: id })}
      >
        Deactivate…
      </Button>
    );
  }
  const letIn = async (): Promise<void> => {
    if ((await run({ path: { id }, body: { active: true } })) !== undefined) toast(`${name} is back in.`);
  };
  return (
    <Button small={small} disabled={isPending} onClick={() => void letIn()}>
      Let back in
    </Button>
  );
}

function Deactivation({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data } = useOne('UsersGet', { path: { id } });
  return data === undefined ? null : <DeactivateDialog user={data.document} onClose={onClose} />;
}

/** The keys of a user; one's own are made from here. */
function Keys({ user: { id, name } }: { readonly user: User }) {
  const { principal } = useSession();
  const mayWrite = useMayWrite();
  const { data: keys = [] } = useList('ApiKeysList', { query: { filter: `obj.owner_id == "${id}"` } });
  const isOwn = id === principal.id;
  return (
    <>
      <UsesPanel
        title={isOwn ? 'Your API keys' : `API keys of ${name}`}
        icon="key"
        none="No keys"
        uses={keys.map((key) => ({
          id: key.id,
          to: `/api-keys/${key.id}`,
          text: nameOf(key),
          end: key.last_used_at === undefined ? 'Never used' : <Time at={key.last_used_at} />,
        }))}
      >
        A key lets a person or a program call the API, with the rights of its owner.
      </UsesPanel>
      {isOwn && mayWrite ? (
        <p>
          <ButtonLink icon="plus" to="/api-keys?create=1">
            Create a key
          </ButtonLink>
        </p>
      ) : null}
    </>
  );
}

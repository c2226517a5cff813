import { useMemo } from 'react';

import type { Credential } from '../../../../client/src/index.ts';
import { useOwners } from '../../api/owners.ts';
import { useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { SelectField } from '../../components/field.tsx';
import { TextsField } from '../../components/list-fields.tsx';
import { Time } from '../../components/time.tsx';
import { countOf, nameOf } from '../../lib/text.ts';
import { ownerColumn, OwnerName } from '../../parts/owners.tsx';
import { createdColumn, FirstOf, nameColumn } from '../../resource/columns.tsx';
import type { Resource, Rows } from '../../resource/describe.ts';
import { description, field, metadata } from '../../resource/fields.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { linesOf, UsesPanel } from '../../resource/uses.tsx';
import { ConnectAgent } from './connect-agent.tsx';

export const credentials: Resource<'CredentialsList'> = {
  list: 'CredentialsList',
  noun: ['credential', 'credentials'],
  icon: 'key',
  path: '/agents',
  listPath: '/agents?tab=credentials',
  mayWrite: ({ owner_id: owner }, { role, principal }) => role === 'admin' || owner === principal.id,
  filterHint: 'Description, rule or id',
  whenEmpty: ['No credentials', 'An agent signs in with the token of a credential.'],
  Rows: ({ render }) => {
    const owner = useOwners();
    return render(useMemo(() => rowsOf(owner), [owner]));
  },
  nameOf,
  fields: [
    description({ form: 'create', startsFocused: true }),
    field<Credential, string>({
      name: 'owner_id',
      start: '',
      form: 'create',
      toBody: (id) => (id === '' ? {} : { owner_id: id }),
      Input: ({ value, onChange, error }) => {
        const { principal, role } = useSession();
        const { data: bots = [] } = useList('BotUsersList');
        if (role !== 'admin') return null;
        return (
          <SelectField
            label="Owner"
            value={value}
            options={[
              ['', `${principal.name} (you)`],
              ...bots.filter(({ active }) => active).map(({ id, name }) => [id, `${name}, bot`] as const),
            ]}
            onChange={onChange}
            hint="Its agents stop when the owner becomes inactive."
            error={error}
          />
        );
      },
    }),
    field<Credential, readonly string[]>({
      name: 'acl',
      start: [],
      toBody: (lines) => ({ acl: lines.map((line) => line.trim()).filter((line) => line !== '') }),
      Input: ({ value, onChange, error }) => {
        const line = value.findIndex((rule) => rule !== '' && error?.includes(rule) === true);
        return (
          <TextsField
            label="May bind"
            noun="Rule"
            addWords="Add rule"
            placeholder="bind:*.example.com"
            hint="Such as bind:app.example.com, bind:tcp.example.com:10022 or bind:app=shop. Without a rule it may bind everything."
            texts={value}
            onChange={onChange}
            error={error}
            errorLine={line < 0 ? undefined : line}
          />
        );
      },
    }),
    description({ form: 'edit' }),
    metadata(),
  ],
  errors: { 20082: 'owner_id', 20083: 'owner_id', 20085: 'acl', 20086: 'acl' },
  create: {
    title: 'Connect an agent',
    act: 'Create credential',
    intro: 'An agent signs in with the token of a credential. The next step shows the command that connects it.',
    Created: ConnectAgent,
  },
  facts: (credential) => [
    ['Owner', <OwnerName key="owner" id={credential.owner_id} />],
    [
      'May bind',
      credential.acl.length === 0
        ? 'Everything'
        : credential.acl.map((rule) => (
            <div key={rule}>
              <code>{rule}</code>
            </div>
          )),
    ],
    ...standardFacts(credential),
  ],
  Body: ({ document }) => (
    <UsesPanel
      title="Sessions"
      uses={useSessionsOf(document.id).map(({ id, ip, os, started_at: at }) => ({
        id,
        to: `/agents/${id}`,
        text: ip,
        end: (
          <>
            {os} · <Time at={at} />
          </>
        ),
      }))}
      icon="agent"
      none="No agent is connected with it"
    >
      A session appears here when an agent signs in with its token.
    </UsesPanel>
  ),
  Removal: ({ document, render }) => {
    const sessions = useSessionsOf(document.id);
    const ending = sessions.length === 0 ? '' : `, and ${countOf(sessions.length, 'session ends', 'sessions end')}`;
    return render({
      lost: `Agents with its token cannot sign in from now on${ending}. This cannot be undone: its token cannot be made again.`,
      uses: linesOf(sessions.map(({ id, ip, os }) => ({ id, tone: 'warn', text: <code>{ip}</code>, end: os }))),
      mustType: sessions.length > 0,
    });
  },
};

function useSessionsOf(credentialId: string) {
  const { data = [] } = useList('TunnelSessionsList');
  return data.filter(({ credential }) => credential.id === credentialId);
}

function rowsOf(owner: ReturnType<typeof useOwners>): Rows<Credential> {
  return {
    columns: [
      nameColumn<Credential>({
        id: 'description',
        head: 'Description',
        width: '34%',
        path: '/agents',
        name: nameOf,
        sub: ({ owner_id: id, acl }) => (
          <span className="sub m1">
            {owner(id).name}, may bind {acl.length === 0 ? 'everything' : acl.join(', ')}
          </span>
        ),
      }),
      ownerColumn(owner),
      {
        id: 'acl',
        head: 'May bind',
        width: '26%',
        priority: 'p1',
        cell: ({ acl }) => <FirstOf texts={acl} none={<span className="soft">Everything</span>} />,
      },
      createdColumn(),
    ],
    filters: [
      {
        name: 'acl',
        label: 'May bind',
        options: { all: 'everything', some: 'by rules' },
        matches: ({ acl }, value) => (acl.length === 0) === (value === 'all'),
      },
    ],
    searchText: ({ id, description: words = '', acl }) => `${words} ${acl.join(' ')} ${id}`,
  };
}

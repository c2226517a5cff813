import { useMemo } from 'react';

import type { ApiKey } from '../../../../client/src/index.ts';
import { useOwners, useOwnersNamed } from '../../api/owners.ts';
import { useList, useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import type { PageProps } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { OwnerName } from '../../parts/owners.tsx';
import { PolicyChoice, PolicyLinks } from '../../parts/policy-choice.tsx';
import type { Resource } from '../../resource/describe.ts';
import { check, description, field, metadata } from '../../resource/fields.tsx';
import { ResourcePages } from '../../resource/lists.tsx';
import { RemovalDialog, standardFacts } from '../../resource/page.tsx';
import { columnsOf, filtersOf, searchFilterOf, usedLast } from './key-rows.tsx';
import { Expiry, isInUse, KeyBadges, LastUse, oldTokenWords } from './key-state.tsx';
import { RotateKey } from './rotate-key.tsx';
import { TokenDialog } from './token-dialog.tsx';

const keys: Resource<'ApiKeysList'> = {
  list: 'ApiKeysList',
  noun: ['key', 'keys'],
  icon: 'key',
  path: '/api-keys',
  what: 'API keys',
  mayWrite: ({ owner_id: owner }, { role, principal }) => role === 'admin' || owner === principal.id,
  filterHint: 'Description, owner or id',
  whenEmpty: ['No keys', 'A key lets a program or a person call the API.'],
  Rows: ({ render }) => {
    const [, setParams] = useUrlState();
    const { principal, read_only: isReadOnly } = useSession();
    const owner = useOwners();
    const ownersNamed = useOwnersNamed();
    const columns = useMemo(
      () => columnsOf(owner, isReadOnly ? undefined : (id) => setParams({ delete: id })),
      [owner, isReadOnly, setParams],
    );
    const filters = useMemo(() => filtersOf(principal.id), [principal.id]);
    const searchFilter = useMemo(() => searchFilterOf(ownersNamed), [ownersNamed]);
    return render({ columns, filters, searchFilter, defaultSort: usedLast });
  },
  nameOf,
  fields: [
    description({ hint: 'What uses it. Shown in lists.', startsFocused: true }),
    field({
      name: 'owner_id',
      start: '',
      form: 'create',
      toBody: (id) => (id === '' ? {} : { owner_id: id }),
      Input: ({ value, onChange, error }) => {
        const { principal, role, users } = useSession();
        const others = users.filter(({ id }) => id !== principal.id);
        const { data: bots = [] } = useList('BotUsersList');
        return (
          <SelectField
            label="Owner"
            value={value}
            onChange={onChange}
            options={[
              ['', `${principal.name}, you`],
              ...(role === 'admin'
                ? [
                    ...bots.map(({ id, name, active }) => [id, `${name}, bot${active ? '' : ', inactive'}`] as const),
                    ...others.map(({ id, name }) => [id, `${name}, user`] as const),
                  ]
                : []),
            ]}
            hint="The key has the owner’s rights, and dies with the owner."
            error={error}
          />
        );
      },
    }),
    field({
      // A day in the form that the browser's field has, 2026-11-14; empty: it does not expire.
      name: 'expires_at',
      start: '',
      from: (key) => key.expires_at?.slice(0, 10) ?? '',
      // The key is refused from the end of the day on, in UTC. Empty removes the end.
      toBody: (day, form) =>
        day === '' ? (form === 'create' ? {} : { expires_at: '' }) : { expires_at: `${day}T23:59:59Z` },
      Input: ({ value, onChange, error }) => (
        <TextField
          label="Expires"
          note="optional"
          type="date"
          value={value}
          onChange={onChange}
          hint="The last day, in UTC, on which it works."
          error={error}
        />
      ),
    }),
    field<ApiKey, readonly string[]>({
      name: 'ip_policy_ids',
      start: [],
      Input: ({ value, onChange, error }) => (
        <PolicyChoice
          label="Only from addresses of"
          note="optional"
          hint="The rules of all these IP policies together must allow the source of every call."
          chosen={value}
          onChange={onChange}
          error={error}
        />
      ),
    }),
    check('read_only', 'Read only: nothing can be changed with it'),
    metadata(),
  ],
  errors: {
    241: 'expires_at',
    604: 'description',
    605: 'metadata',
    630: 'owner_id',
    634: 'owner_id',
    1402: 'ip_policy_ids',
    20022: 'owner_id',
  },
  create: {
    title: 'Create an API key',
    act: 'Create key',
    Created: ({ document, onClose }) => <TokenDialog apiKey={document} onClose={onClose} />,
  },
  badge: (key) => <KeyBadges apiKey={key} />,
  lead: ({ id }, { api_key: mine }) => (id === mine?.id ? 'You are signed in with this key.' : undefined),
  facts: (key) => {
    const [created, ...rest] = standardFacts(key);
    const { rotated_at: rotated, previous_token_expires_at: oldUntil } = key;
    return [
      ['Owner', <OwnerName key="owner" id={key.owner_id} />],
      ['Last used', <LastUse key="used" apiKey={key} />],
      ['Expires', <Expiry key="end" apiKey={key} />],
      ['May', key.read_only === true ? 'Read only' : 'Whatever its owner may'],
      ['From', <PolicyLinks key="from" ids={key.ip_policy_ids ?? []} none="Any address that the API lets in" />],
      created,
      rotated === undefined ? undefined : ['Newest token', <Time key="rotated" at={rotated} />],
      oldUntil === undefined ? undefined : ['Old token', oldTokenWords(oldUntil)],
      ...rest,
    ];
  },
  MoreActs: () => {
    const [, setParams] = useUrlState();
    return <Button onClick={() => setParams({ rotate: '1' })}>New token…</Button>;
  },
  Body: ({ document, mayWrite }) => {
    const [params, setParams] = useUrlState();
    if (!params.has('rotate') || !mayWrite) return null;
    return <RotateKey apiKey={document} onClose={() => setParams({ rotate: undefined })} />;
  },
  deletesAnyState: true,
  Removal: ({ document: key, render }) => {
    const owner = useOwners();
    const { api_key: mine } = useSession();
    return render({
      title: `Delete the key “${nameOf(key)}” of ${owner(key.owner_id).name}?`,
      lost: 'Calls with it fail from now on. This cannot be undone: its token cannot be made again.',
      uses: (
        <ul className="rules">
          <li>
            <Glyph tone={isInUse(key) ? 'warn' : 'off'} />
            {key.last_used_at === undefined ? (
              <span className="grow">It was never used</span>
            ) : (
              <span className="grow">
                Last used <Time at={key.last_used_at} />
              </span>
            )}
          </li>
          <li>
            {key.id === mine?.id ? <Glyph tone="warn" /> : <Icon name="info" />}
            <span className="grow">
              {key.id === mine?.id
                ? 'You are signed in with it: this session ends with it'
                : 'Dashboard sessions that were opened with it end with it'}
            </span>
          </li>
        </ul>
      ),
      mustType: isInUse(key),
    });
  },
};

export function Page({ id }: PageProps) {
  const [params] = useUrlState();
  const leaving = params.get('delete');
  return (
    <ResourcePages
      resource={keys}
      id={id}
      title="API keys"
      lead="A key acts as its owner, with the owner’s rights. Deleting one stops its calls and sessions at once."
    >
      {leaving === null ? null : <DeleteFromList id={leaving} />}
    </ResourcePages>
  );
}

function DeleteFromList({ id }: { readonly id: string }) {
  const { data } = useOne('ApiKeysGet', { path: { id } });
  return data === undefined ? null : <RemovalDialog resource={keys} id={id} reply={data} />;
}

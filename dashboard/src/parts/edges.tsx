import type { ReactNode } from 'react';

import { ButtonLink } from '../components/button.tsx';
import type { ChoiceFilter } from '../components/list-search.ts';
import type { Column } from '../components/table.tsx';
import { Verdict } from '../components/verdict.tsx';
import { createdColumn, FirstOf, nameColumn } from '../resource/columns.tsx';
import type { FormField, Rows, Shown, Values } from '../resource/describe.ts';
import { description, field, metadata } from '../resource/fields.tsx';
import { EditActs } from '../resource/page.tsx';
import { linesOf } from '../resource/uses.tsx';
import type { Use } from '../resource/uses.tsx';
import { BackendChoice, backendErrors, backendIdOf, draftOf } from './backend-choice.tsx';
import type { BackendDraft } from './backend-choice.tsx';
import { edgeName } from './backends.ts';
import type { NamedEdge } from './backends.ts';
import { hostportErrors, HostportsField, hostportsOf } from './hostports.tsx';

type Kind = 'https' | 'tcp';

interface Edge extends NamedEdge {
  readonly created_at: string;
  readonly metadata?: string;
}

/** The shared part of the descriptions of both kinds of edges. */
export function edgeParts(kind: Kind) {
  const path = `/${kind}-edges`;
  return {
    noun: ['edge', 'edges'],
    path,
    filterHint: 'Description, hostport or id',
    nameOf: edgeName,
    errors: {
      ...hostportErrors,
      ...Object.fromEntries(Object.keys(backendErrors).map((number) => [number, 'backend'])),
      7073: 'description',
      7074: 'metadata',
    },
    acts: ({ document, mayWrite, isEditing }: Shown<Edge>) =>
      isEditing ? undefined : (
        <>
          <ButtonLink to={`/who-gets-in?edge=${document.id}`}>Who gets in here</ButtonLink>
          {mayWrite ? <EditActs /> : null}
        </>
      ),
  } as const;
}

/** Words of the form for a new edge. */
export function createWords(kind: Kind) {
  const name = kind.toUpperCase();
  return {
    title: kind === 'https' ? 'Create an HTTPS edge' : 'Create a TCP edge',
    open: `Create ${name} edge`,
    act: 'Create edge',
  } as const;
}

export function edgeFields<Row extends Edge>(kind: Kind): readonly FormField<Row>[] {
  return [
    description({ form: 'create', startsFocused: true }),
    field<Row, readonly string[]>({
      name: 'hostports',
      start: [''],
      from: ({ hostports }) => hostports ?? [''],
      toBody: (lines) => ({ hostports: hostportsOf(kind, lines) }),
      Input: ({ value, onChange, callError }) => (
        <HostportsField kind={kind} hostports={value} onChange={onChange} error={callError} />
      ),
    }),
    field<Row, BackendDraft>({
      name: 'backend',
      form: 'create',
      start: (params) => draftOf(params.get('backend') ?? undefined),
      toBody: () => ({}),
      Input: ({ value, onChange, callError }) => (
        <BackendChoice
          draft={value}
          onChange={onChange}
          isOptional
          hint={
            kind === 'https'
              ? 'Where the requests for every path go. Routes of the edge can send some paths elsewhere.'
              : undefined
          }
          error={callError}
        />
      ),
    }),
    description({ form: 'edit' }),
    metadata(),
  ];
}

/** The id of the backend that a form has chosen, which is made first where it is new. */
export async function chosenBackend({ backend }: Values, set: (part: Values) => void): Promise<string | undefined> {
  // The field above has made it.
  const id = await backendIdOf(backend as BackendDraft);
  // A second try must not make the backend again.
  if (id !== undefined) set({ backend: draftOf(id) });
  return id;
}

/** The next thing that an edge needs, in one of these words; undefined for one that serves. */
export function EdgeState({ missing }: { readonly missing: string | undefined }) {
  if (missing === undefined) return <Verdict tone="allow">Ready</Verdict>;
  return <Verdict tone="off">No {missing}</Verdict>;
}

/** The list of edges of one kind, with columns of its own between state and creation. */
export function edgeRows<Row extends Edge>(
  kind: Kind,
  missingFor: (edge: Row) => string | undefined,
  own: readonly Column<Row>[],
  ownFilter: ChoiceFilter<Row>,
  ownText: (edge: Row) => string,
): Rows<Row> {
  return {
    columns: [
      nameColumn({
        head: 'Edge',
        width: '28%',
        path: `/${kind}-edges`,
        name: edgeName,
        sub: ({ hostports }) => <span className="sub m1 mono">{hostports?.[0] ?? 'Nowhere yet'}</span>,
      }),
      {
        id: 'hostports',
        head: 'Reached at',
        width: kind === 'https' ? '34%' : '24%',
        priority: 'p1',
        sortBy: ({ hostports }) => hostports?.[0] ?? '',
        cell: ({ hostports }) => <FirstOf texts={hostports ?? []} none={<span className="muted">Nowhere yet</span>} />,
      },
      {
        id: 'state',
        head: 'State',
        sortBy: (edge) => (missingFor(edge) === undefined ? 0 : 1),
        cell: (edge) => <EdgeState missing={missingFor(edge)} />,
      },
      ...own,
      createdColumn('p3'),
    ],
    filters: [
      {
        name: 'state',
        label: 'State',
        options: { serving: 'ready', unfinished: 'not ready yet' },
        matches: (edge, value) => (missingFor(edge) === undefined) === (value === 'serving'),
      },
      ownFilter,
    ],
    searchText: (edge) => `${edge.description ?? ''} ${edge.id} ${(edge.hostports ?? []).join(' ')} ${ownText(edge)}`,
  };
}

/** Hostports of an edge that is about to be deleted, and what else goes with it. */
export function edgeLines({ hostports }: NamedEdge, isServing: boolean, more: readonly Use[]): ReactNode {
  const freed = (hostports ?? []).map((hostport) => ({
    id: hostport,
    tone: isServing ? ('warn' as const) : ('off' as const),
    text: <code>{hostport}</code>,
    end: 'becomes free',
  }));
  return linesOf([...freed, ...more]);
}

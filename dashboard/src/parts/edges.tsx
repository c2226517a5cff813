import { useMemo } from 'react';
import type { ReactNode } from 'react';

import { useHealth } from '../api/health.ts';
import type { HealthBook } from '../api/health.ts';
import { useLive } from '../api/live.ts';
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
import { useConditions } from './conditions.ts';
import type { Conditions } from './conditions.ts';
import { isInTrouble, rankOf } from './health-words.ts';
import { healthColumns, StateWord } from './health.tsx';
import type { EdgeKind } from './hostports.tsx';
import { hostportErrors, HostportsField, hostportsOf, useShownAddress } from './hostports.tsx';

interface Edge extends NamedEdge {
  readonly created_at: string;
  readonly metadata?: string;
}

/** The shared part of the descriptions of all kinds of edges. */
export function edgeParts(kind: EdgeKind) {
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
export function createWords(kind: EdgeKind) {
  const name = kind.toUpperCase();
  return {
    title: kind === 'https' ? 'Create an HTTPS edge' : 'Create a TCP edge',
    open: `Create ${name} edge`,
    act: 'Create edge',
  } as const;
}

export function edgeFields<Row extends Edge>(kind: EdgeKind): readonly FormField<Row>[] {
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

/** The next thing that an edge needs, or how it does by its traffic. */
export function EdgeState<Row extends Edge>({ edge, ways }: { readonly edge: Row; readonly ways: Ways<Row> }) {
  return <StateOf edge={edge} ways={ways} book={useHealth()} conditions={useConditions()} />;
}

/** Backends that an edge leads to. */
export interface Ways<Row> {
  /** The next thing that it needs, in a word; undefined for one that serves. */
  readonly missing: (edge: Row) => string | undefined;
  /** Backends that are on. */
  readonly backendIds: (edge: Row) => readonly string[];
}

function StateOf<Row extends Edge>({
  edge,
  ways,
  book,
  conditions,
}: {
  readonly edge: Row;
  readonly ways: Ways<Row>;
  readonly book: HealthBook | undefined;
  readonly conditions: Conditions | undefined;
}) {
  const missing = ways.missing(edge);
  if (missing !== undefined) return <Verdict tone="off">No {missing}</Verdict>;
  return <StateWord state={book?.stateOf(edge, conditions?.of(ways.backendIds(edge)))} />;
}

/** Agents come and go by themselves. */
const liveLists = ['TunnelGroupBackendsList'] as const;

const stateFilter = {
  trouble: 'in trouble',
  answers: 'answers',
  quiet: 'no requests',
  unfinished: 'not ready yet',
} as const;

/** The list of edges of one kind, with columns of its own between state and creation. */
export function EdgeRows<Row extends Edge>({
  kind,
  ways,
  own,
  ownFilter,
  ownText,
  render,
}: {
  readonly kind: EdgeKind;
  readonly ways: Ways<Row>;
  readonly own: readonly Column<Row>[];
  readonly ownFilter: ChoiceFilter<Row>;
  readonly ownText: (edge: Row) => string;
  readonly render: (rows: Rows<Row>) => ReactNode;
}) {
  const book = useHealth();
  const conditions = useConditions();
  const shownAddress = useShownAddress(kind);
  useLive(liveLists);
  const rows = useMemo(() => {
    const conditionOf = (edge: Row) => conditions?.of(ways.backendIds(edge));
    const groupOf = (edge: Row): keyof typeof stateFilter => {
      if (ways.missing(edge) !== undefined) return 'unfinished';
      const state = book?.stateOf(edge, conditionOf(edge)) ?? 'unknown';
      return isInTrouble(state) ? 'trouble' : state === 'answers' ? 'answers' : 'quiet';
    };
    return {
      columns: [
        nameColumn<Row>({
          head: 'Edge',
          width: '28%',
          path: `/${kind}-edges`,
          name: edgeName,
          sub: ({ hostports }) => (
            <span className="sub m1 mono">{hostports?.map(shownAddress)[0] ?? 'Nowhere yet'}</span>
          ),
        }),
        {
          id: 'hostports',
          head: 'Reached at',
          width: kind === 'tcp' ? '22%' : '30%',
          priority: 'p1' as const,
          sortBy: ({ hostports }: Row) => hostports?.[0] ?? '',
          cell: ({ hostports }: Row) => (
            <FirstOf texts={(hostports ?? []).map(shownAddress)} none={<span className="muted">Nowhere yet</span>} />
          ),
        },
        {
          id: 'state',
          head: 'State',
          sortBy: (edge: Row) =>
            ways.missing(edge) === undefined ? rankOf(book?.stateOf(edge, conditionOf(edge))) : rankOf('unknown') + 0.5,
          cell: (edge: Row) => <StateOf edge={edge} ways={ways} book={book} conditions={conditions} />,
        },
        ...healthColumns<Row>(book),
        ...own,
        createdColumn<Row>('p4'),
      ],
      filters: [
        {
          name: 'state',
          label: 'State',
          options: stateFilter,
          matches: (edge: Row, value: string) => groupOf(edge) === value,
        },
        ownFilter,
      ],
      searchText: (edge: Row) =>
        `${edge.description ?? ''} ${edge.id} ${(edge.hostports ?? []).join(' ')} ${ownText(edge)}`,
    };
  }, [kind, ways, own, ownFilter, ownText, book, conditions, shownAddress]);
  return render(rows);
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

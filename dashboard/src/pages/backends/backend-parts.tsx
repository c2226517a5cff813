import { useMemo } from 'react';
import type { ReactNode } from 'react';

import { useHealth } from '../../api/health.ts';
import { useLive } from '../../api/live.ts';
import type { Search } from '../../components/list-search.ts';
import type { Column } from '../../components/table.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import { kindOfBackend, useBackendUses } from '../../parts/backends.ts';
import type { BackendUse } from '../../parts/backends.ts';
import { useConditions } from '../../parts/conditions.ts';
import { HealthBox } from '../../parts/health-box.tsx';
import { rankOf } from '../../parts/health-words.ts';
import { healthColumns, StateWord } from '../../parts/health.tsx';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { RemovalProps, Rows, Shown } from '../../resource/describe.ts';
import { canBeReverted, linesOf, stillUsed, UsesPanel } from '../../resource/uses.tsx';

interface Backend {
  readonly id: string;
  readonly description?: string;
  readonly created_at: string;
}

const path = '/backends';
/** Agents come and go by themselves. */
const liveLists = ['TunnelGroupBackendsList'] as const;

const isOff = (
  <span className="row">
    <Glyph tone="off" /> off
  </span>
);

/** A static backend with several addresses or checks, whose page says itself how it does. */
export function isWatched(backend: Backend): boolean {
  return ['addresses', 'active_check', 'passive_check'].some((name) => name in backend);
}

/** How it does, by checks, agents and the requests that were for it. */
function BackendState({ backend }: { readonly backend: Backend }) {
  const watched = useHealth()?.watched(backend.id);
  const state = useConditions()?.stateOf(backend);
  if (state !== 'backend_in_part' || watched === undefined) return <StateWord state={state} />;
  return (
    <Verdict tone="warn">
      {watched.answering} of {watched.addresses} answer
    </Verdict>
  );
}

/** The shared part of the descriptions of all kinds of backends. */
export const backendParts = {
  path,
  what: 'backends',
  errors: { 6503: 'description', 6504: 'metadata', 6505: 'address', 6506: 'address', 6507: 'address', 20091: 'labels' },
  create: { title: 'Create a backend', act: 'Create backend', said: () => 'Created the backend.' },
  badge: (backend: Backend) => <BackendState backend={backend} />,
  Body: ({ document }: Shown<Backend>) => {
    const uses = useBackendUses()(document.id);
    return (
      <>
        {uses.length === 0 || isWatched(document) ? null : <HealthBox thing={document} leadsTo={[document.id]} />}
        {uses.length === 0 ? null : <Pictures of={{ backend: document.id }} note={countedAt(document.id, uses)} />}
        <UsesPanel
          title="Used by"
          uses={uses.map((use) => (use.isOn ? use : { ...use, end: isOff }))}
          icon="globe"
          none="Nothing uses it"
        >
          Choose it as the backend of a route or a TCP edge.
        </UsesPanel>
      </>
    );
  },
  Removal: ({ document, render }: RemovalProps<Backend>) => {
    const uses = useBackendUses()(document.id);
    return render({
      lost:
        uses.length === 0
          ? `Nothing uses it. ${canBeReverted}`
          : 'It is in use, as you see below. Give these another backend first, then delete it.',
      uses: linesOf(uses.map((use) => ({ ...use, tone: use.isOn ? 'warn' : 'off' }))),
      blocked: stillUsed(uses.length),
    });
  },
} as const;

/** Backends that choose among others. */
const isGroup = (id: string): boolean => ['weighted', 'failover'].includes(kindOfBackend(id));

/** Where requests stand that several backends share in. */
function countedAt(id: string, uses: readonly BackendUse[]): string | undefined {
  if (isGroup(id))
    return 'Requests stand at the backend that took them. Here are those that none took, and connections of TCP and TLS edges for which there was a choice.';
  return uses.some((use) => isGroup(use.id))
    ? 'Connections of TCP and TLS edges that came by a weighted or failover backend stand there.'
    : undefined;
}

/** The description of a backend, or where it sends traffic. */
export function nameWith(description: string | undefined, target: string): string {
  return description === undefined || description === '' ? target : description;
}

/** A list of backends, with columns of its kind between name and uses. */
export function BackendRows<Row extends Backend>({
  head,
  target,
  columns,
  search,
  render,
}: {
  readonly head: string;
  /** Where it sends traffic. */
  readonly target: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  readonly search: Search<Row>;
  readonly render: (rows: Rows<Row>) => ReactNode;
}) {
  const uses = useBackendUses();
  const book = useHealth();
  const conditions = useConditions();
  useLive(liveLists);
  const rows = useMemo(
    (): Rows<Row> => ({
      columns: [
        nameColumn({
          head,
          width: '30%',
          path,
          name: (row) => nameWith(row.description, target(row)),
          sub: (row) =>
            nameWith(row.description, target(row)) === target(row) ? null : (
              <span className="sub m1 mono">{target(row)}</span>
            ),
        }),
        {
          id: 'state',
          head: 'State',
          sortBy: (row) => rankOf(conditions?.stateOf(row)),
          cell: (row) => <BackendState backend={row} />,
        },
        ...columns,
        ...healthColumns<Row>(book),
        {
          id: 'used',
          head: 'Used by',
          priority: 'p1',
          isNumber: true,
          sortBy: ({ id }) => uses(id).length,
          cell: ({ id }) => uses(id).length,
        },
        createdColumn('p3'),
      ],
      filters: [
        {
          name: 'used',
          label: 'Used',
          options: { yes: 'by an edge', no: 'by none' },
          matches: ({ id }, value) => uses(id).length > 0 === (value === 'yes'),
        },
      ],
      ...search,
    }),
    [head, target, columns, search, uses, book, conditions],
  );
  return render(rows);
}

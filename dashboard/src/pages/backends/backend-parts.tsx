import { useMemo } from 'react';
import type { ReactNode } from 'react';

import type { Search } from '../../components/list-search.ts';
import type { Column } from '../../components/table.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { useBackendUses } from '../../parts/backends.ts';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { RemovalProps, Rows, Shown } from '../../resource/describe.ts';
import { linesOf, UsesPanel } from '../../resource/uses.tsx';

interface Backend {
  readonly id: string;
  readonly description?: string;
  readonly created_at: string;
}

const path = '/backends';

const isOff = (
  <span className="row">
    <Glyph tone="off" /> off
  </span>
);

/** The shared part of the descriptions of all kinds of backends. */
export const backendParts = {
  path,
  what: 'backends',
  errors: { 6503: 'description', 6504: 'metadata', 6505: 'address', 6506: 'address', 6507: 'address', 20091: 'labels' },
  create: { title: 'Create a backend', act: 'Create backend', said: () => 'Created the backend.' },
  Body: ({ document }: Shown<Backend>) => (
    <UsesPanel
      title="Used by"
      uses={useBackendUses()(document.id).map((use) => (use.isOn ? use : { ...use, end: isOff }))}
      icon="globe"
      none="No edge uses it"
    >
      Choose it as the backend of a route or a TCP edge.
    </UsesPanel>
  ),
  Removal: ({ document, render }: RemovalProps<Backend>) => {
    const uses = useBackendUses()(document.id);
    return render({
      lost:
        uses.length === 0
          ? 'No edge uses it. This cannot be undone.'
          : 'It is used below, and is not deleted while it is: give these another backend first.',
      uses: linesOf(uses.map((use) => ({ ...use, tone: use.isOn ? 'warn' : 'off' }))),
    });
  },
} as const;

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
        ...columns,
        {
          id: 'used',
          head: 'Used by',
          priority: 'p1',
          isNumber: true,
          sortBy: ({ id }) => uses(id).length,
          cell: ({ id }) => uses(id).length,
        },
        createdColumn(),
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
    [head, target, columns, search, uses],
  );
  return render(rows);
}

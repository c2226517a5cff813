import type { HealthBook, HealthState } from '../api/health.ts';
import type { Health } from '../api/health.ts';
import { Verdict } from '../components/verdict.tsx';
import type { Column } from '../components/table.tsx';
import { rateText, shareText, states } from './health-words.ts';

/** Nothing until it is known: never an old green. */
export function StateWord({ state }: { readonly state: HealthState | undefined }) {
  if (state === undefined) return <span className="muted">…</span>;
  const [tone, words] = states[state];
  return <Verdict tone={tone}>{words}</Verdict>;
}

/** Errors and 95th percentile of a thing, for lists. */
export function healthColumns<Row extends { readonly id: string }>(
  book: HealthBook | undefined,
): readonly Column<Row>[] {
  return [
    {
      id: 'rate',
      head: 'Requests/min',
      priority: 'p3',
      isNumber: true,
      sortBy: ({ id }) => book?.find(id)?.requests ?? 0,
      cell: ({ id }) => <RateCell id={id} book={book} />,
    },
    {
      id: 'errors',
      head: 'Errors',
      priority: 'p2',
      isNumber: true,
      sortBy: ({ id }) => book?.find(id)?.errors ?? 0,
      cell: ({ id }) => <ErrorsCell health={book?.find(id)} />,
    },
  ];
}

export function RateCell({ id, book }: { readonly id: string; readonly book: HealthBook | undefined }) {
  const health = book?.find(id);
  return health === undefined || book === undefined ? '–' : rateText(health.requests, book);
}

export function ErrorsCell({ health }: { readonly health: Health | undefined }) {
  return health === undefined || health.requests === 0 ? '–' : shareText(health.errors, health.requests);
}

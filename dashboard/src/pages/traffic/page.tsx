import { useCallback, useMemo, useState } from 'react';
import { Link } from 'wouter';

import type { TrafficEvent } from '../../../../client/src/index.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { PageHead } from '../../components/page.tsx';
import { Sheet, Split } from '../../components/sheet.tsx';
import { Empty } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';
import { formatSeconds } from '../../lib/time.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { useEdges } from '../../parts/edge-names.ts';
import type { EdgeNames } from '../../parts/edge-names.ts';
import { explanationOf, pastRequests } from '../../parts/past-requests.ts';
import { formatMs, verdictTones, verdictWords } from '../../parts/traffic-words.ts';
import { EventSheet } from './event-sheet.tsx';
import { Filters } from './filters.tsx';
import { History } from './history.tsx';
import { filterNames, fitsFilter, statusWords } from './traffic-words.ts';
import { useLiveTraffic } from './use-live-traffic.ts';
import type { LiveTraffic } from './use-live-traffic.ts';

/** Rows that are drawn; a list that nobody can read to its end needs no more. */
const mostRows = 200;

export function Page() {
  const [params, setParams] = useUrlState();
  const [isPaused, setPaused] = useState(false);
  const [isPointedAt, setPointedAt] = useState(false);
  const live = useLiveTraffic(isPaused || isPointedAt);
  const edges = useEdges();
  const events = useMemo(
    () => live.events.filter((event) => fitsFilter(event, params)).slice(0, mostRows),
    [live.events, params],
  );
  const openId = params.get('open');
  const opened = useOpened(live.events, openId);
  const hrefOf = useCallback(
    ({ id }: TrafficEvent): string => {
      const next = new URLSearchParams(params);
      next.set('open', id);
      return `/traffic?${next.toString()}`;
    },
    [params],
  );
  const columns = useMemo(() => columnsOf(edges, hrefOf), [edges, hrefOf]);
  const close = (): void => setParams({ open: undefined });
  const isFiltered = filterNames.some((name) => params.has(name));
  return (
    <Split
      sheet={
        openId === null ? undefined : opened === undefined ? (
          <Sheet title="Not here any more" onClose={close}>
            <p>
              Requests are shown here as they happen. This one is not among those that came since the page was opened;{' '}
              <Link to={explanationOf({ id: openId })}>past requests</Link> may have it.
            </p>
          </Sheet>
        ) : (
          <EventSheet key={opened.id} event={opened} edges={edges} onClose={close} />
        )
      }
    >
      <PageHead
        title="Live traffic"
        badge={<State live={live} isHeld={isPaused || isPointedAt} />}
        actions={
          <>
            <ButtonLink
              to={pastRequests({ edge: params.get('edge') ?? undefined, verdict: params.get('verdict') ?? undefined })}
            >
              Past requests
            </ButtonLink>
            <Button icon={isPaused ? 'play' : 'pause'} shortcut="Space" onClick={() => setPaused(!isPaused)}>
              {isPaused ? 'Go on' : 'Pause'}
            </Button>
          </>
        }
      />
      <Filters edges={edges} />
      <History edgeId={params.get('edge') ?? undefined} />
      <div
        className="panel flush"
        onPointerEnter={() => setPointedAt(true)}
        onPointerLeave={() => setPointedAt(false)}
        onFocus={() => setPointedAt(true)}
        onBlur={() => setPointedAt(false)}
      >
        {events.length === 0 ? (
          <Empty
            icon={isFiltered ? 'filter' : 'traffic'}
            title={isFiltered && live.events.length > 0 ? 'Nothing that came fits the filter' : 'Nothing has come yet'}
            action={
              isFiltered ? (
                <Button onClick={() => setParams(Object.fromEntries(filterNames.map((name) => [name, undefined])))}>
                  Clear the filter
                </Button>
              ) : undefined
            }
          >
            Requests and connections of this process are listed here as they happen.
          </Empty>
        ) : (
          <Table
            label="Requests and connections, newest first"
            dense
            columns={columns}
            rows={events}
            keyOf={({ id }) => id}
            hrefOf={hrefOf}
            isSelected={({ id }) => id === openId}
          />
        )}
      </div>
    </Split>
  );
}

/** The opened one stays as it is when newer ones push it out of the list. */
function useOpened(events: readonly TrafficEvent[], id: string | null): TrafficEvent | undefined {
  const [kept, setKept] = useState<TrafficEvent>();
  if (id === null) return undefined;
  const found = kept?.id === id ? kept : events.find((event) => event.id === id);
  if (found !== undefined && found !== kept) setKept(found);
  return found;
}

function State({ live, isHeld }: { readonly live: LiveTraffic; readonly isHeld: boolean }) {
  return (
    <span className="muted row" role="status">
      <span className={live.state === 'live' ? 'dot on' : 'dot half'} />
      {stateWords(live, isHeld)}
    </span>
  );
}

function stateWords({ state, lostAt, error, perSecond, waiting, dropped }: LiveTraffic, isHeld: boolean): string {
  if (state === 'connecting') return 'Connecting';
  if (state === 'lost') {
    return `Not live since ${formatSeconds(lostAt ?? Date.now())}, trying again. ${error?.message ?? ''}`.trim();
  }
  const left = dropped === 0 ? '' : `; ${formatNumber(dropped)} too many to show`;
  const newer = waiting === 0 ? '' : `, ${countOf(waiting, 'newer one waits', 'newer ones wait')}`;
  const held = isHeld ? `; held${newer}` : '';
  return `${formatNumber(perSecond)} a second${left}${held}`;
}

function columnsOf(edges: EdgeNames, hrefOf: (event: TrafficEvent) => string): readonly Column<TrafficEvent>[] {
  return [
    {
      id: 'time',
      head: 'Time',
      priority: 'p2',
      isNarrow: true,
      cell: ({ at }) => (
        <time className="mono muted" dateTime={at} title={at}>
          {formatSeconds(at)}
        </time>
      ),
    },
    { id: 'verdict', head: 'Verdict', isNarrow: true, cell: (event) => <VerdictCell event={event} /> },
    {
      id: 'source',
      head: 'Source',
      priority: 'p1',
      isNarrow: true,
      cell: ({ client_ip: ip }) => <span className="mono">{ip}</span>,
    },
    {
      id: 'host',
      head: 'Host',
      priority: 'p2',
      isNarrow: true,
      cell: ({ hostport }) => (
        <span className="mono main host" title={hostport}>
          {hostport.replace(/:443$/, '')}
        </span>
      ),
    },
    {
      id: 'edge',
      head: 'Edge',
      priority: 'p3',
      width: '16%',
      cell: (event) => <span className="soft main">{edges.nameOf(event.edge_id, event.hostport)}</span>,
    },
    {
      id: 'request',
      head: 'Request',
      width: '60%',
      cell: (event) => (
        <>
          <Link className="main mono request" to={hrefOf(event)} data-row-link>
            <span className="muted">{event.method ?? 'TCP'}</span> {event.path ?? event.hostport}
          </Link>
          <span className="sub m1">
            {event.client_ip} · {edges.nameOf(event.edge_id, event.hostport)}
          </span>
        </>
      ),
    },
    { id: 'status', head: 'Status', isNumber: true, cell: (event) => <Status event={event} /> },
    {
      id: 'ms',
      head: 'ms',
      priority: 'p1',
      isNumber: true,
      cell: ({ duration_ms: ms }) => (ms === undefined ? '' : formatMs(ms)),
    },
  ];
}

/** Draws what passes in grey; its word gives way on a narrow screen, not for those who listen. */
function VerdictCell({ event: { verdict } }: { readonly event: TrafficEvent }) {
  const word = <span className="word">{verdictWords[verdict]}</span>;
  if (verdict !== 'allowed') return <Verdict tone={verdictTones[verdict]}>{word}</Verdict>;
  return (
    <span className="v off">
      <Icon name="check" />
      {word}
    </span>
  );
}

function Status({ event }: { readonly event: TrafficEvent }) {
  const words = statusWords(event);
  if ((event.status ?? 0) < 500) return words;
  return <Verdict tone="deny">{words}</Verdict>;
}

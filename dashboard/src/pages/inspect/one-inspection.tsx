import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';

import { useChange } from '../../api/queries.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { FilterChoice } from '../../components/filter-choice.tsx';
import { PageHead } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Sheet, Split } from '../../components/sheet.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import { countOf } from '../../lib/text.ts';
import { formatClock } from '../../lib/time.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { columnsOf } from './columns.tsx';
import { filterNames, fitsFilter, methods, replays, statuses } from './filters.ts';
import { GatewayNote } from './gateway-note.tsx';
import { RequestSheet } from './request-sheet.tsx';
import { useSubjects } from './subjects.ts';
import { useInspection } from './use-inspection.ts';
import type { FollowedInspection } from './use-inspection.ts';

/** The requests of one inspection as they come. */
export function OneInspection({ id }: { readonly id: string }) {
  const [params, setParams] = useUrlState();
  const [, navigate] = useLocation();
  const [isPaused, setPaused] = useState(false);
  const read = useInspection(id, isPaused);
  const { nameOf } = useSubjects();
  const end = useChange('InspectionsDelete');
  const openId = params.get('open');
  const opened = read.requests?.find((each) => each.id === openId);
  const close = (): void => setParams({ open: undefined });
  if (read.isOver && read.requests === undefined) return <Over />;
  const name = read.told === undefined ? 'Inspect requests' : nameOf(read.told.subject_id);
  return (
    <Split
      sheet={
        openId === null || read.requests === undefined ? undefined : opened === undefined ? (
          <Sheet title="Not here any more" onClose={close}>
            <p>
              Gateways keep the last 100 requests. <Link to={`/requests/${openId}`}>Past requests</Link> may say what
              was decided about this one.
            </p>
          </Sheet>
        ) : (
          <RequestSheet key={opened.id} inspectionId={id} request={opened} onClose={close} onSent={read.readNow} />
        )
      }
    >
      <PageHead
        title={name}
        lead={leadOf(read)}
        actions={
          <>
            <ButtonLink to="/inspect">All inspections</ButtonLink>
            {read.isOver ? null : (
              <>
                <Button icon={isPaused ? 'play' : 'pause'} shortcut="Space" onClick={() => setPaused(!isPaused)}>
                  {isPaused ? 'Go on' : 'Pause'}
                </Button>
                <Button
                  disabled={end.isPending}
                  onClick={() => void end.run({ path: { id } }).then((done) => done && navigate('/inspect'))}
                >
                  End and forget all
                </Button>
              </>
            )}
          </>
        }
      />
      <Problem error={end.error} />
      {read.told === undefined ? null : <GatewayNote gateways={read.told.gateways} />}
      <Filters />
      <Requests id={id} read={read} openId={openId} />
    </Split>
  );
}

function leadOf({ told, requests, isOver }: FollowedInspection): string {
  if (told === undefined) return '';
  const count = countOf(requests?.length ?? 0, 'request', 'requests');
  const left =
    told.left_out === 0 ? '' : ` ${countOf(told.left_out, 'one was', 'were')} too many at once to be recorded.`;
  if (isOver) return `${count}. The inspection has ended: this page alone still has them.${left}`;
  return `${count}, until ${formatClock(told.ends_at)}. Masked at the gateway, in memory only, and gone at the end.${left}`;
}

function Filters() {
  const [params, setParams] = useUrlState();
  return (
    <div className="bar">
      <FilterChoice name="status" label="Status" options={statuses} />
      <FilterChoice name="method" label="Method" options={methods} />
      <FilterChoice name="replays" label="Replays" options={replays} />
      <input
        className="input"
        type="search"
        aria-label="Find in path, headers and bodies"
        aria-keyshortcuts="f"
        placeholder="Path, header or words of a body"
        value={params.get('find') ?? ''}
        onChange={(event) => setParams({ find: event.target.value })}
      />
    </div>
  );
}

function Requests({
  id,
  read,
  openId,
}: {
  readonly id: string;
  readonly read: FollowedInspection;
  readonly openId: string | null;
}) {
  const [params, setParams] = useUrlState();
  const { requests, error, readNow } = read;
  const shown = useMemo(() => requests?.filter((each) => fitsFilter(each, params)), [requests, params]);
  const hrefOf = (requestId: string): string => {
    const next = new URLSearchParams(params);
    next.set('open', requestId);
    return `/inspect/${id}?${next.toString()}`;
  };
  const isFiltered = filterNames.some((name) => params.has(name));
  return (
    <div className="panel flush">
      {shown === undefined ? (
        error === undefined ? (
          <div className="pad">
            <Skeleton lines={6} />
          </div>
        ) : (
          <ErrorState title="The requests could not be read" error={error} onRetry={readNow} />
        )
      ) : shown.length === 0 ? (
        <Empty
          icon={isFiltered ? 'filter' : 'traffic'}
          title={isFiltered ? 'No request fits the filter' : 'Nothing has come yet'}
          action={
            isFiltered ? (
              <Button onClick={() => setParams(Object.fromEntries(filterNames.map((name) => [name, undefined])))}>
                Clear the filter
              </Button>
            ) : undefined
          }
        >
          {isFiltered
            ? undefined
            : 'Send a request to it. One that a check refuses is not recorded: past requests have it.'}
        </Empty>
      ) : (
        <Table
          label="Requests, newest first"
          dense
          columns={columnsOf((request) => hrefOf(request.id))}
          rows={shown}
          keyOf={(request) => request.id}
          hrefOf={(request) => hrefOf(request.id)}
          isSelected={(request) => request.id === openId}
        />
      )}
    </div>
  );
}

function Over() {
  return (
    <div className="page wide">
      <Empty
        isPage
        icon="clock"
        title="This inspection has ended"
        action={<ButtonLink to="/inspect">Begin another</ButtonLink>}
      >
        All that it had recorded is forgotten. Past requests say what was decided, without headers and bodies.
      </Empty>
    </div>
  );
}

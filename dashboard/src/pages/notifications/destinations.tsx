import { useState } from 'react';

import type { EventDestination } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/queries.ts';
import type { useList } from '../../api/queries.ts';
import { Banner } from '../../components/banner.tsx';
import { Button } from '../../components/button.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Empty, ErrorState } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Badge } from '../../components/verdict.tsx';
import { formatTime } from '../../lib/time.ts';
import { kindOf, placeOf } from './target-words.ts';

interface Acts {
  readonly isBusy: boolean;
  readonly test: (destination: EventDestination) => void;
  readonly resend: (destination: EventDestination) => void;
  readonly remove: (destination: EventDestination) => void;
}

/** The outcome of the last test event. */
interface Tried {
  readonly place: string;
  readonly delivered: boolean;
  readonly error: string | null;
}

/** Where events go, whether they arrive, and what to do where they do not. */
export function Destinations({
  read,
  mayWrite,
}: {
  readonly read: ReturnType<typeof useList<'EventDestinationsList'>>;
  readonly mayWrite: boolean;
}) {
  const [removedId, setRemovedId] = useState<string>();
  const removed = read.data?.find(({ id }) => id === removedId);
  const [tried, setTried] = useState<Tried>();
  const test = useAct(async (destination: EventDestination) => {
    setTried(undefined);
    const result = await client.call('EventDestinationsTest', { path: { id: destination.id } });
    setTried({ place: placeOf(destination), ...result });
  });
  const resend = useAct(async (destination: EventDestination) => {
    const { resent } = await client.call('EventDestinationsResend', { path: { id: destination.id } });
    toast(resent === 1 ? 'One event is sent again.' : `${resent} events are sent again.`);
  });
  const acts: Acts = {
    isBusy: test.isPending || resend.isPending,
    test: (each) => void test.run(each),
    resend: (each) => void resend.run(each),
    remove: ({ id }) => setRemovedId(id),
  };
  const columns = columnsOf(mayWrite ? acts : undefined);
  return (
    <Panel title="Where it goes" flush>
      <TestResult tried={tried} />
      <Problem error={test.error ?? resend.error} />
      {read.error !== undefined && read.data === undefined ? (
        <ErrorState title="The destinations could not be read" error={read.error} onRetry={read.retry} />
      ) : read.data?.length === 0 ? (
        <Empty icon="bell" title="Events go nowhere yet" />
      ) : (
        <Table label="Where it goes" columns={columns} rows={read.data} keyOf={({ id }) => id} />
      )}
      {removed === undefined ? null : (
        <DeleteDialog
          title={`Delete ${placeOf(removed)}?`}
          lost="Nothing can be sent there any more, and its secret is gone too."
          blocked={removed.delivery.status === 'unused' ? undefined : 'Stop its notifications first'}
          act="Delete destination"
          said={`Deleted ${placeOf(removed)}.`}
          remove={() => client.call('EventDestinationsDelete', { path: { id: removed.id } })}
          onClose={() => setRemovedId(undefined)}
        />
      )}
    </Panel>
  );
}

function TestResult({ tried }: { readonly tried: Tried | undefined }) {
  if (tried === undefined) return null;
  const { place, delivered, error } = tried;
  if (!delivered) return <Banner tone="deny" note={error}>{`The test event did not arrive at ${place}.`}</Banner>;
  if (error !== null) return <Banner tone="warn" note={error}>{`The test event did not arrive everywhere.`}</Banner>;
  return <Banner tone="allow">{`The test event has been taken by ${place}.`}</Banner>;
}

function State({ destination: { delivery } }: { readonly destination: EventDestination }) {
  const { status, sent_at, failing_since, retries_at, last_error, undelivered, lost } = delivery;
  const notes = [
    failing_since === null ? undefined : `since ${formatTime(failing_since)}`,
    last_error ?? undefined,
    retries_at === null ? undefined : `the next attempt is due ${formatTime(retries_at)}`,
    undelivered === 0 ? undefined : `${undelivered} given up, and kept`,
    lost === 0 ? undefined : `${lost} lost`,
  ].filter((note) => note !== undefined);
  return (
    <>
      {status === 'failing' ? (
        <Badge tone="deny">Does not arrive</Badge>
      ) : status === 'unused' ? (
        <Badge>Not used</Badge>
      ) : undelivered > 0 || lost > 0 || last_error !== null ? (
        <Badge tone="warn">Not all arrived</Badge>
      ) : sent_at === null ? (
        <Badge>Nothing sent yet</Badge>
      ) : (
        <Badge tone="allow">Arrives</Badge>
      )}{' '}
      {sent_at === null ? null : (
        <small className="soft">
          last <Time at={sent_at} />
        </small>
      )}
      {notes.length === 0 ? null : <p className="soft target">{notes.join('; ')}</p>}
    </>
  );
}

function columnsOf(acts: Acts | undefined): readonly Column<EventDestination>[] {
  const columns: readonly Column<EventDestination>[] = [
    {
      id: 'where',
      head: 'Where to',
      cell: (each) => (
        <>
          <span className="target">{placeOf(each)}</span> <small className="soft">{kindOf(each)}</small>
        </>
      ),
    },
    {
      id: 'state',
      head: 'State',
      cell: (each) => (
        <>
          <State destination={each} />
          {acts === undefined ? null : (
            <div className="m1">
              <ActsOf destination={each} acts={acts} />
            </div>
          )}
        </>
      ),
    },
  ];
  if (acts === undefined) return columns;
  const last: Column<EventDestination> = {
    id: 'acts',
    head: '',
    priority: 'p1',
    isRight: true,
    cell: (each) => <ActsOf destination={each} acts={acts} />,
  };
  return [...columns, last];
}

function ActsOf({ destination, acts }: { readonly destination: EventDestination; readonly acts: Acts }) {
  const { undelivered, status } = destination.delivery;
  return (
    <span className="row wrap">
      {undelivered > 0 || status === 'failing' ? (
        <Button small icon="replay" disabled={acts.isBusy} onClick={() => acts.resend(destination)}>
          Send again
        </Button>
      ) : null}
      <Button small disabled={acts.isBusy} onClick={() => acts.test(destination)}>
        Send a test event
      </Button>
      <Button
        small
        look="ghost"
        icon="trash"
        aria-label={`Delete ${placeOf(destination)}`}
        onClick={() => acts.remove(destination)}
      />
    </span>
  );
}

import { useState } from 'react';

import type { EventDestination, EventSubscription } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { PageHead, Panel } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Empty, ErrorState } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { Destinations } from './destinations.tsx';
import { placeOf } from './target-words.ts';
import { TellMeDialog } from './tell-me-dialog.tsx';
import { wordsOf } from './topics.ts';

export function Page() {
  const { role } = useSession();
  if (role === 'admin') return <Notifications />;
  return (
    <>
      <PageHead title="Notifications" lead="Who is told of what, and whether it arrives." />
      <section className="panel">
        <Empty icon="bell" title="Only admins read notifications">
          They repeat what everybody in the account does. Ask an admin: with a link to this page, they see them.
        </Empty>
      </section>
    </>
  );
}

function Notifications() {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite('admins');
  const subscriptions = useList('EventSubscriptionsList');
  const destinations = useList('EventDestinationsList');
  const begin = () => setParams({ create: '1' });
  const tellMe = (
    <Button look="primary" icon="plus" shortcut="c" onClick={begin}>
      Tell me when…
    </Button>
  );
  return (
    <>
      <PageHead
        title="Notifications"
        lead="Who is told of what, and whether it arrives."
        actions={mayWrite ? tellMe : undefined}
      />
      <LookOnly what="notifications" who="admins" />
      <Subscriptions read={subscriptions} destinations={destinations.data ?? []} mayWrite={mayWrite} />
      {subscriptions.data?.length === 0 && destinations.data?.length === 0 ? null : (
        <Destinations read={destinations} mayWrite={mayWrite} />
      )}
      {params.has('create') && mayWrite && destinations.data !== undefined ? (
        <TellMeDialog destinations={destinations.data} onClose={() => setParams({ create: undefined })} />
      ) : null}
    </>
  );
}

function Subscriptions({
  read,
  destinations,
  mayWrite,
}: {
  readonly read: ReturnType<typeof useList<'EventSubscriptionsList'>>;
  readonly destinations: readonly EventDestination[];
  readonly mayWrite: boolean;
}) {
  const [removed, setRemoved] = useState<EventSubscription>();
  const names = new Map(destinations.map((each) => [each.id, placeOf(each)]));
  const columns = columnsOf(names, mayWrite ? setRemoved : undefined);
  return (
    <Panel title="What is told" flush>
      {read.error !== undefined && read.data === undefined ? (
        <ErrorState title="The notifications could not be read" error={read.error} onRetry={read.retry} />
      ) : read.data?.length === 0 ? (
        <Empty icon="bell" title="Nobody is told of anything yet">
          Choose what matters, such as a backend that falls, and who gets an e-mail or a call of a server when it
          happens.
        </Empty>
      ) : (
        <Table label="What is told" columns={columns} rows={read.data} keyOf={({ id }) => id} />
      )}
      {removed === undefined ? null : (
        <DeleteDialog
          title="Stop this notification?"
          lost={`Nobody is told of it any more: ${wordsIn(removed)}. What waits to be sent is gone. Where it went to stays.`}
          act="Stop notification"
          said="The notification is stopped."
          remove={() => client.call('EventSubscriptionsDelete', { path: { id: removed.id } })}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Panel>
  );
}

function columnsOf(
  names: ReadonlyMap<string, string>,
  remove: ((subscription: EventSubscription) => void) | undefined,
): readonly Column<EventSubscription>[] {
  const columns: readonly Column<EventSubscription>[] = [
    {
      id: 'what',
      head: 'Told of',
      cell: (each) => (
        <>
          {each.description === undefined || each.description === '' ? null : <b>{each.description} </b>}
          {wordsIn(each)}
        </>
      ),
    },
    {
      id: 'whom',
      head: 'Whom',
      cell: (each) => (
        <span className="target">{each.destinations.map(({ id }) => names.get(id) ?? id).join(', ')}</span>
      ),
    },
    { id: 'since', head: 'Since', priority: 'p2', isNarrow: true, cell: (each) => <Time at={each.created_at} /> },
  ];
  if (remove === undefined) return columns;
  const last: Column<EventSubscription> = {
    id: 'acts',
    head: '',
    isRight: true,
    isNarrow: true,
    cell: (each) => (
      <Button
        small
        look="ghost"
        icon="trash"
        aria-label={`Stop telling: ${wordsIn(each)}`}
        onClick={() => remove(each)}
      />
    ),
  };
  return [...columns, last];
}

function wordsIn({ sources }: EventSubscription): string {
  return wordsOf(sources.map(({ type }) => type));
}

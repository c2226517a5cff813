import { useState } from 'react';
import { Link, useLocation } from 'wouter';

import { useChange, useOne } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { PageHead, Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { formatClock } from '../../lib/time.ts';
import { countOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { GatewayNote } from './gateway-note.tsx';
import { useSubjects } from './subjects.ts';

const refreshMs = 5000;
const times = [
  ['5', '5 minutes'],
  ['15', '15 minutes'],
  ['60', '1 hour'],
] as const;

/** Inspections under way, and the form that begins one. */
export function InspectionList() {
  const mayInspect = useMayWrite('admins');
  return (
    <div className="page wide">
      <PageHead
        title="Inspect requests"
        lead="Headers and the start of bodies of the requests to a route, edge or endpoint, for an hour at most. They stay in memory of the gateways, with secrets masked, and nothing of them is stored."
      />
      <LookOnly what="inspections" who="admins" />
      {mayInspect ? (
        <>
          <Begin />
          <UnderWay />
        </>
      ) : null}
    </div>
  );
}

function Begin() {
  const [params] = useUrlState();
  const [, navigate] = useLocation();
  const { options } = useSubjects();
  const [chosen, setChosen] = useState(params.get('subject') ?? '');
  const [minutes, setMinutes] = useState<(typeof times)[number][0]>('15');
  const start = useChange('InspectionsCreate');
  const begin = async (): Promise<void> => {
    const body = { subject_id: chosen, minutes: Number(minutes) };
    const begun = await start.run({ body });
    if (begun !== undefined) navigate(`/inspect/${begun.document.id}`);
  };
  return (
    <Panel title="Begin">
      <Form label="Begin an inspection" onSubmit={() => void begin()}>
        <SelectField
          label="Route, edge or endpoint"
          value={chosen}
          options={[['', 'Choose one'], ...options]}
          onChange={setChosen}
        />
        <SelectField label="For" value={minutes} options={times} onChange={setMinutes} />
        <Problem error={start.error} />
        <div className="row">
          <Button
            look="primary"
            type="submit"
            disabled={start.isPending}
            missing={chosen === '' ? 'Choose what to inspect' : undefined}
          >
            Inspect requests
          </Button>
        </div>
      </Form>
    </Panel>
  );
}

function UnderWay() {
  const read = useOne('InspectionsList', {}, { refreshMs });
  const { nameOf } = useSubjects();
  const told = read.data?.document;
  return (
    <Panel title="Under way" flush>
      {told === undefined ? (
        read.error === undefined ? (
          <div className="pad">
            <Skeleton />
          </div>
        ) : (
          <ErrorState title="Inspections could not be read" error={read.error} onRetry={read.retry} />
        )
      ) : told.inspections.length === 0 ? (
        <Empty icon="search" title="Nothing is being inspected">
          Requests are recorded from when an inspection begins; earlier ones are among the past requests, without
          headers and bodies.
        </Empty>
      ) : (
        <table className="tbl" aria-label="Inspections under way">
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col" className="num">
                Recorded
              </th>
              <th scope="col" className="num">
                Ends at
              </th>
            </tr>
          </thead>
          <tbody>
            {told.inspections.map(({ id, subject_id: subject, recorded, ends_at: end }) => (
              <tr key={id}>
                <td>
                  <Link className="main" to={`/inspect/${id}`} data-row-link>
                    {nameOf(subject)}
                  </Link>
                </td>
                <td className="num">{countOf(recorded, 'request', 'requests')}</td>
                <td className="num">{formatClock(end)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {told === undefined ? null : (
        <div className="pad">
          <GatewayNote gateways={told.gateways} />
        </div>
      )}
    </Panel>
  );
}

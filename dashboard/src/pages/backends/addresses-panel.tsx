import type { StaticBackend, StaticBackendHealth } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';
import { HealthBox } from '../../parts/health-box.tsx';
import type { FaultVerdict } from '../../parts/health-box.tsx';
import { HostportText } from '../../parts/hostports.tsx';

type Address = StaticBackendHealth['addresses'][number];
type Seen = Address['gateways'][number];

const everyMs = 5_000;
/** With more gateways than these, an address has one column for all of them. */
const mostColumns = 4;
const shownFlips = 10;

/** How the backend does, by its addresses first; then its addresses. */
export function WatchedPanels({ backend }: { readonly backend: StaticBackend }) {
  const { data } = useOne('StaticBackendsHealth', { path: { id: backend.id } }, { refreshMs: everyMs });
  return (
    <>
      <HealthBox
        thing={backend}
        leadsTo={[backend.id]}
        fault={data === undefined ? undefined : faultOf(backend, data.document.addresses)}
      />
      <AddressesPanel backend={backend} />
    </>
  );
}

/** The addresses of a backend, as every gateway sees them now. */
function AddressesPanel({ backend }: { readonly backend: StaticBackend }) {
  const { id } = backend;
  const { data, error } = useOne('StaticBackendsHealth', { path: { id } }, { refreshMs: everyMs });
  if (error !== undefined)
    return (
      <Panel title="Addresses">
        <p>What the gateways see is unknown: {error.message}</p>
      </Panel>
    );
  if (data === undefined) return <section className="panel" aria-busy="true" />;
  const { addresses, flips } = data.document;
  const [first] = addresses;
  const gateways = first?.gateways ?? [];
  const isWide = gateways.length <= mostColumns;
  const checkedAt = addresses.flatMap((each) => each.gateways.flatMap((seen) => seen.checked_at ?? [])).toSorted();
  const lastCheck = checkedAt.at(-1);
  return (
    <>
      <Panel
        title="Addresses"
        note={`${addresses.length}, as every gateway sees them now`}
        action={
          lastCheck === undefined ? undefined : (
            <span className="fine muted p2">
              Checked <Time at={lastCheck} />
            </span>
          )
        }
        flush
      >
        <table className="tbl">
          <thead>
            <tr>
              <th scope="col">Address</th>
              <th scope="col">State</th>
              {isWide ? (
                gateways.map((each, at) => (
                  <th key={each.gateway_id} scope="col" className="p2">
                    {each.host ?? `Gateway ${at + 1}`}
                  </th>
                ))
              ) : (
                <th scope="col" className="p2">
                  Gateways
                </th>
              )}
              <th scope="col" className="num p3">
                Weight
              </th>
            </tr>
          </thead>
          <tbody>
            {downFirst(addresses).map((each) => (
              <tr key={each.address}>
                <td>
                  <HostportText text={each.address} />
                </td>
                <td>
                  <State address={each} />
                </td>
                {isWide ? (
                  each.gateways.map((seen) => (
                    <td key={seen.gateway_id} className="p2">
                      <Sight seen={seen} />
                    </td>
                  ))
                ) : (
                  <td className="p2">
                    {each.gateways.filter(({ state }) => state !== 'down').length} of {each.gateways.length} reach it
                  </td>
                )}
                <td className="num p3">{each.weight}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Panel>
      {flips.length === 0 ? null : (
        <Panel title="Down and back" note="newest first" flush>
          <ul className="list">
            {flips.slice(0, shownFlips).map((flip) => (
              <li key={`${flip.at} ${flip.gateway_id} ${flip.address} ${flip.state}`}>
                <Glyph tone={flip.state === 'down' ? 'deny' : 'allow'} />
                <div className="t">
                  <b className="strong">
                    {flip.address} {flip.state === 'down' ? 'went down' : 'came back'}
                  </b>
                  <span>{flip.cause ?? (flip.by === 'check' ? 'by its checks' : 'by real requests')}</span>
                </div>
                <span className="muted fine">
                  {flip.host === undefined ? null : `${flip.host} · `}
                  <Time at={flip.at} />
                </span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </>
  );
}

/** Says what is down, why, and what that means for visitors; undefined while all answer. */
function faultOf(backend: StaticBackend, addresses: readonly Address[]): FaultVerdict | undefined {
  const used = addresses.filter(({ weight }) => weight > 0);
  const down = used.filter((each) => downAt(each).length > 0);
  const [first] = down;
  const [seen] = first === undefined ? [] : downAt(first);
  if (first === undefined || seen === undefined) return undefined;
  const isAll = used.every((each) => downAt(each).length === each.gateways.length);
  const [missing, all] = [downAt(first).length, first.gateways.length];
  const whose = all === 1 ? '' : missing === all ? `, for all ${all} gateways` : `, for ${missing} of ${all} gateways`;
  const title =
    down.length === 1
      ? `${first.address} is down${whose}`
      : isAll
        ? `All ${down.length} addresses are down`
        : `${down.length} of ${used.length} addresses are down`;
  const isClosed = backend.when_all_down === 'fail_closed';
  return {
    tone: isAll ? 'deny' : 'warn',
    title,
    reason: (
      <>
        {`${seen.cause ?? (seen.by === 'check' ? 'Its checks fail' : 'Real requests fail')}, ${countOf(seen.failures, 'failure', 'failures')} in a row`}
        {seen.since === undefined ? null : (
          <>
            {', down since '}
            <Time at={seen.since} />
          </>
        )}
        {'. '}
        {isAll
          ? isClosed
            ? 'Visitors get 503 until one is back.'
            : 'Requests are tried all the same.'
          : down.length === 1
            ? 'The others carry its share.'
            : 'The others carry their share.'}
      </>
    ),
  };
}

function downAt({ gateways }: Address): readonly Seen[] {
  return gateways.filter(({ state }) => state === 'down');
}

function downFirst(addresses: readonly Address[]): readonly Address[] {
  const isDown = ({ gateways }: Address): number => (gateways.some(({ state }) => state === 'down') ? 0 : 1);
  return addresses.toSorted((a, b) => isDown(a) - isDown(b));
}

function State({ address: { gateways, weight } }: { readonly address: Address }) {
  const down = gateways.filter(({ state }) => state === 'down');
  const [first] = down;
  if (first !== undefined)
    return (
      <Verdict tone={down.length === gateways.length ? 'deny' : 'warn'}>
        {down.length === gateways.length ? 'Down' : `Down for ${down.length} of ${gateways.length}`}
        {first.since === undefined ? null : (
          <>
            {' since '}
            <Time at={first.since} />
          </>
        )}
      </Verdict>
    );
  if (weight === 0) return <Verdict tone="off">Taken out</Verdict>;
  if (gateways.some(({ state }) => state === 'up')) return <Verdict tone="allow">Answers</Verdict>;
  return <span className="muted">Not checked yet</span>;
}

function Sight({ seen }: { readonly seen: Seen }) {
  const times = seen.failures > 1 ? ` (${formatNumber(seen.failures)} times)` : '';
  if (seen.state === 'down') return <Verdict tone="deny">{`${seen.cause ?? 'down'}${times}`}</Verdict>;
  if (seen.failures > 0) return <Verdict tone="warn">{`${seen.cause ?? 'fails'}${times}`}</Verdict>;
  if (seen.state === 'unchecked') return <span className="muted">not checked yet</span>;
  return <Verdict tone="allow">{seen.check_ms === undefined ? 'answers' : `${seen.check_ms} ms`}</Verdict>;
}

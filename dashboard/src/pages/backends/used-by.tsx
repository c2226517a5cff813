import { Link } from 'wouter';

import { Panel } from '../../components/page.tsx';
import { Empty } from '../../components/states.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { useBackendUses } from '../../parts/backends.ts';

/** Edges and routes that send traffic to the backend. */
export function UsedBy({ id }: { readonly id: string }) {
  const uses = useBackendUses()(id);
  return (
    <Panel title="Used by" note={String(uses.length)} flush>
      {uses.length === 0 ? (
        <Empty icon="globe" title="No edge uses it">
          Choose it as the backend of a route or a TCP edge.
        </Empty>
      ) : (
        <ul className="list">
          {uses.map((use) => (
            <li key={use.id}>
              <Link className="grow" to={use.to}>
                {use.text}
              </Link>
              {use.isOn ? null : (
                <span className="muted row">
                  <Glyph tone="off" /> off
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

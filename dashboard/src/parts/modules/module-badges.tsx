import type { HttpsEdgeRoute, TcpEdge } from '../../../../client/src/index.ts';
import { Badge, Glyph } from '../../components/verdict.tsx';
import { kindOf } from './kinds.tsx';
import { viewOf } from './target.ts';
import type { ModuleTarget } from './target.ts';

/** The modules that are set, in short; one that is off says so. */
export function ModuleBadges({
  document,
  schemas,
  without,
}: {
  readonly document: HttpsEdgeRoute | TcpEdge;
  readonly schemas: ModuleTarget['schemas'];
  /** A module that has a column of its own. */
  readonly without?: string;
}) {
  const set = schemas.flatMap(([name, schema]) => {
    const view = name === without ? null : viewOf(document, name);
    return view === null ? [] : [{ name, badge: kindOf(name, schema).badge, isOn: view.enabled }];
  });
  if (set.length === 0) return <span className="muted">None</span>;
  return (
    <span className="row wrap tight">
      {set.map(({ name, badge, isOn }) =>
        isOn ? (
          <Badge key={name}>{badge}</Badge>
        ) : (
          <Badge key={name} tone="plain">
            <Glyph tone="off" />
            {badge} off
          </Badge>
        ),
      )}
    </span>
  );
}

import { Fragment } from 'react';

import { Icon } from '../../components/icon.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { sentenceOf, toneOf, wordOf } from './doors.ts';
import type { Door } from './doors.ts';
import { Ladder } from './ladder.tsx';
import type { Names } from '../../parts/names.ts';

const groups = [
  ['itself', 'Gatehouse itself'],
  ['edges', 'Edges and endpoints, after the endpoints restrictions above'],
] as const;

/** Every door with its verdict; a row opens to the rules that made it. */
export function DoorTable({
  doors,
  names,
  openId,
  onOpen,
  onLetIn,
}: {
  readonly doors: readonly Door[];
  readonly names: Names;
  readonly openId: string | null;
  readonly onOpen: (id: string | undefined) => void;
  /** Undefined where the person may change nothing. */
  readonly onLetIn: ((door: Door) => void) | undefined;
}) {
  return (
    <div className="panel flush">
      <table className="tbl" aria-label="Doors">
        <thead>
          <tr>
            <th scope="col">Door</th>
            <th scope="col">Now</th>
            <th scope="col" className="p1">
              If all enforced
            </th>
            <th scope="col" className="p2">
              Decided by
            </th>
            <th scope="col">
              <span className="vh">Open</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {groups.map(([group, title]) => {
            const own = doors.filter((door) => door.group === group);
            return own.length === 0 ? null : (
              <Fragment key={group}>
                <tr className="group">
                  <td colSpan={5}>{title}</td>
                </tr>
                {own.map((door) => (
                  <DoorRow
                    key={door.id}
                    door={door}
                    names={names}
                    isOpen={door.id === openId}
                    onToggle={() => onOpen(door.id === openId ? undefined : door.id)}
                    onLetIn={onLetIn === undefined ? undefined : () => onLetIn(door)}
                  />
                ))}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function DoorRow({
  door,
  names,
  isOpen,
  onToggle,
  onLetIn,
}: {
  readonly door: Door;
  readonly names: Names;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onLetIn: (() => void) | undefined;
}) {
  const { verdict } = door;
  const isSame = verdict.allowed === verdict.allowed_if_all_enforced;
  return (
    <>
      <tr
        className={isOpen ? 'open' : ''}
        data-href=""
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest('a, button') === null) onToggle();
        }}
      >
        <td className={door.isPart ? 'clip door part' : 'clip door'}>
          <span className="main">{door.name}</span>
          <span className="sub">{noteOf(door, names)}</span>
        </td>
        <td className="min">
          <Verdict tone={toneOf(door)}>{wordOf(door)}</Verdict>
        </td>
        <td className="min p1">
          {isSame ? <span className="muted">Same</span> : <Verdict tone="deny">Refused</Verdict>}
        </td>
        <td className="soft p2">
          <DecidedBy door={door} names={names} />
        </td>
        <td className="min right">
          <button
            type="button"
            className="btn ghost sm icon-only"
            aria-expanded={isOpen}
            aria-label={`Why: ${door.name}`}
            data-row-link
            onClick={onToggle}
          >
            <Icon name={isOpen ? 'down' : 'right'} />
          </button>
        </td>
      </tr>
      {isOpen ? (
        <tr className="detail">
          <td colSpan={5}>
            <div className="way">
              <Ladder door={door} names={names} onLetIn={onLetIn} />
            </div>
          </td>
        </tr>
      ) : null}
    </>
  );
}

/** Restrictions of a door of Gatehouse itself are counted with how they stand. */
function noteOf({ group, note, verdict: { checks } }: Door, names: Names): string {
  if (group !== 'itself' || checks.length === 0) return note;
  const warning = checks.filter(({ id }) => names.restriction(id).isEnforced === false).length;
  if (warning === 0) return `${note}, enforced`;
  return warning === checks.length ? `${note}, warns only` : `${note}, ${warning} only warns`;
}

/** The check that made the verdict: what refuses, else what asks for more, what warns, or the last that lets in. */
function DecidedBy({ door, names }: { readonly door: Door; readonly names: Names }) {
  if (door.parts !== undefined) return door.parts;
  const { checks, further_checks: further } = door.verdict;
  const refusing = checks.find(({ effect }) => effect === 'refuses');
  if (refusing === undefined && door.outcome === 'asks')
    return further.flatMap(({ asks }) => (asks === null ? [] : [sentenceOf(asks)])).join('. ');
  const decisive =
    refusing ?? checks.find(({ effect }) => effect === 'warns') ?? checks.findLast(({ effect }) => effect === 'allows');
  if (decisive === undefined) return checks.length === 0 ? 'Nothing restricts it' : 'Its module is switched off';
  if (decisive.rule !== null) {
    return (
      <>
        <code>{decisive.rule.cidr}</code> {decisive.rule.action}, {names.policy(decisive.rule.ip_policy.id)}
      </>
    );
  }
  if (decisive.ip_policies.length === 0) return sentenceOf(decisive.reason);
  return `No rule of ${decisive.ip_policies.map(({ id }) => names.policy(id)).join(' or ')} contains it`;
}

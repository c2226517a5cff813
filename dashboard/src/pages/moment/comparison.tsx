import { useMemo, useState } from 'react';

import { useOne } from '../../api/queries.ts';
import { LongDiff } from '../../components/diff.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { Badge } from '../../components/verdict.tsx';
import { diffTexts } from '../../lib/diff.ts';
import type { DiffLine } from '../../lib/diff.ts';
import { countOf, formatNumber } from '../../lib/text.ts';
import { yamlLines } from '../../lib/yaml-lines.ts';
import { byWhatIsGuarded } from './guarded.ts';
import type { Difference, Guarded } from './guarded.ts';
import { kindOf } from './kinds.ts';
import type { Past } from './past.ts';

/** Groups that are opened at first, and that are listed. */
const openedAtFirst = 2;
const mostListed = 200;

/** Shows what differs between the moment and another one, or now, by what it guards. */
export function Comparison({ past, other }: { readonly past: Past; readonly other: string | undefined }) {
  const query = { from: past.at, ...(other === undefined ? {} : { to: other }) };
  const read = useOne('ConfigurationDiff', { query });
  const steps = read.data?.document.steps;
  const groups = useMemo(
    () => (steps === undefined ? [] : byWhatIsGuarded(steps, past.entries)),
    [steps, past.entries],
  );
  const than = other === undefined ? 'now' : 'the other moment';
  return (
    <section className="panel flush">
      <header>
        <h2>
          Different from {than}
          {steps === undefined ? null : <small>{countOf(steps.length, 'thing', 'things')}, by what they guard</small>}
        </h2>
        <span className="legend">
          <span>
            <b className="then">−</b> then
          </span>
          <span>
            <b className="now">+</b> {other === undefined ? 'now' : 'the other moment'}
          </span>
        </span>
      </header>
      {read.error !== undefined ? (
        <ErrorState title="The moments could not be compared" error={read.error} onRetry={read.retry} />
      ) : steps === undefined ? (
        <div className="pad">
          <Skeleton />
        </div>
      ) : steps.length === 0 ? (
        <Empty icon="check" title="Nothing differs" />
      ) : (
        <ul className="list">
          {groups.slice(0, mostListed).map((group, at) => (
            <Group key={group.title} group={group} isOpen={at < openedAtFirst} />
          ))}
          {groups.length > mostListed ? (
            <li>
              <span className="muted">
                {formatNumber(groups.length - mostListed)} more places differ. <code>gatehouse diff {past.at}</code>{' '}
                shows them all.
              </span>
            </li>
          ) : null}
        </ul>
      )}
    </section>
  );
}

function Group({
  group: { title, differences },
  isOpen: opensAtFirst,
}: {
  readonly group: Guarded;
  readonly isOpen: boolean;
}) {
  const [isOpen, setOpen] = useState(opensAtFirst);
  return (
    <li className="guarded">
      <div className="row">
        <div className="grow">
          <button type="button" className="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            <Icon name={isOpen ? 'down' : 'right'} />
            <b className="strong">{title}</b>
          </button>
          <span className="fine muted">{differences.map((difference) => wordsOf(difference)).join(' · ')}</span>
        </div>
        <State differences={differences} />
      </div>
      {isOpen
        ? differences.map((difference) => (
            <div key={difference.key} className="panel flush">
              <LongDiff lines={linesOf(difference)} label={`What differs: ${nameOf(difference)}`} />
            </div>
          ))
        : null}
    </li>
  );
}

function State({ differences }: { readonly differences: readonly Difference[] }) {
  const actions = new Set(differences.map(({ step }) => step.action));
  if (actions.size === 1 && actions.has('create')) return <Badge>New since</Badge>;
  if (actions.size === 1 && actions.has('delete')) return <Badge tone="deny">Gone since</Badge>;
  return <Badge tone="warn">Changed</Badge>;
}

function nameOf({ step: { kind, name } }: Difference): string {
  return `${kindOf(kind).noun} ${name}`;
}

/** Fields that are named one by one. */
const mostFields = 3;

function wordsOf(difference: Difference): string {
  const { step, fields } = difference;
  const name = nameOf(difference);
  if (step.action === 'create') return `${name}: new since`;
  if (step.action === 'delete') return `${name}: gone since`;
  const parts = fields.map(({ field, before, after }) => {
    if (field !== 'rules') return field.replaceAll('_', ' ');
    const [more, fewer] = [lengthOf(before), lengthOf(after)];
    const words = [
      more === 0 ? [] : `${countOf(more, 'rule', 'rules')} more then`,
      fewer === 0 ? [] : `${countOf(fewer, 'rule', 'rules')} fewer then`,
    ];
    return words.flat().join(', ');
  });
  const left = parts.length - mostFields;
  return `${name}: ${parts.slice(0, mostFields).join(', ')}${left > 0 ? ` and ${formatNumber(left)} more` : ''}`;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function linesOf(difference: Difference): readonly DiffLine[] {
  return difference.fields.flatMap(({ field, before, after }): readonly DiffLine[] => [
    { kind: 'gap', text: `${nameOf(difference)}, ${field}` },
    ...(isSet(before) && isSet(after)
      ? diffTexts(yamlLines(before), yamlLines(after))
      : [
          ...(isSet(before) ? yamlLines(before) : []).map((text): DiffLine => ({ kind: 'del', text })),
          ...(isSet(after) ? yamlLines(after) : []).map((text): DiffLine => ({ kind: 'add', text })),
        ]),
  ]);
}

/** Gives only the members that differ of a list without order. */
function isSet(value: unknown): boolean {
  return value !== null && !(Array.isArray(value) && value.length === 0);
}

import { useState } from 'react';

import { Button } from '../../components/button.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { formatNumber } from '../../lib/text.ts';
import type { Comparison, InvalidLine } from './rule-list.ts';

type Tab = 'added' | 'removed' | 'kept' | 'invalid';

const tabs: readonly (readonly [Tab, string])[] = [
  ['added', 'Added'],
  ['removed', 'Removed'],
  ['kept', 'Kept'],
  ['invalid', 'Not valid'],
];

/** Shows what sending the list would do. */
export function Preview({
  comparison,
  onSettle,
  onGoTo,
}: {
  readonly comparison: Comparison;
  /** Puts a text in place of a line; undefined leaves it out. */
  readonly onSettle: (lines: readonly { readonly line: number; readonly text: string | undefined }[]) => void;
  readonly onGoTo: (line: number) => void;
}) {
  const [chosen, setChosen] = useState<Tab>();
  const open = chosen ?? (comparison.invalid.count > 0 ? 'invalid' : 'added');
  return (
    <div className="stack tight start">
      <div className="tabs" role="tablist" aria-label="What the list does">
        {tabs.map(([tab, words]) => (
          <button key={tab} type="button" role="tab" aria-selected={tab === open} onClick={() => setChosen(tab)}>
            {words}
            <small>{formatNumber(comparison[tab].count)}</small>
          </button>
        ))}
      </div>
      {open === 'invalid' ? (
        <Invalid invalid={comparison.invalid} onSettle={onSettle} onGoTo={onGoTo} />
      ) : (
        <Some lines={comparison[open].first} count={comparison[open].count} kind={open} />
      )}
    </div>
  );
}

const nothing = { added: 'No rule is new.', removed: 'No rule goes.', kept: 'No rule stays.' } as const;
const marks = { added: 'add', removed: 'del', kept: '' } as const;

function Some({
  lines,
  count,
  kind,
}: {
  readonly lines: readonly string[];
  readonly count: number;
  readonly kind: 'added' | 'removed' | 'kept';
}) {
  if (count === 0) return <p className="muted">{nothing[kind]}</p>;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- whoever has no mouse scrolls it with the arrow keys
    <div className="diff previewed" role="region" aria-label={`Rules that are ${kind}`} tabIndex={0}>
      {lines.map((line) => (
        <div key={line} className={marks[kind]}>
          {line}
        </div>
      ))}
      {count > lines.length ? <div className="gap">and {formatNumber(count - lines.length)} more</div> : null}
    </div>
  );
}

function Invalid({
  invalid: { count, first },
  onSettle,
  onGoTo,
}: {
  readonly invalid: Comparison['invalid'];
  readonly onSettle: Parameters<typeof Preview>[0]['onSettle'];
  readonly onGoTo: (line: number) => void;
}) {
  if (count === 0) return <p className="muted">Every line is valid.</p>;
  const withSuggestion = first.filter(({ suggestion }) => suggestion !== undefined);
  return (
    <>
      <div className="row wrap">
        {withSuggestion.length > 1 ? (
          <Button
            small
            onClick={() => onSettle(withSuggestion.map(({ line, suggestion }) => ({ line, text: suggestion })))}
          >
            Use all {withSuggestion.length} suggestions
          </Button>
        ) : null}
        {first.length > 1 ? (
          <Button small look="ghost" onClick={() => onSettle(first.map(({ line }) => ({ line, text: undefined })))}>
            Leave {first.length} out
          </Button>
        ) : null}
      </div>
      <ul className="rules previewed">
        {first.map((each) => (
          <InvalidRow key={each.line} invalid={each} onSettle={onSettle} onGoTo={onGoTo} />
        ))}
      </ul>
    </>
  );
}

function InvalidRow({
  invalid: { line, text, reason, suggestion },
  onSettle,
  onGoTo,
}: {
  readonly invalid: InvalidLine;
  readonly onSettle: Parameters<typeof Preview>[0]['onSettle'];
  readonly onGoTo: (line: number) => void;
}) {
  return (
    <li className="stack tight">
      <span className="row">
        <Glyph tone="warn" />
        <span className="mono grow">
          line {formatNumber(line)} {text}
        </span>
      </span>
      <span className="soft">{reason}</span>
      <span className="row wrap">
        {suggestion === undefined ? (
          <Button small onClick={() => onGoTo(line)}>
            Go to line
          </Button>
        ) : (
          <Button small onClick={() => onSettle([{ line, text: suggestion }])}>
            Use {suggestion}
          </Button>
        )}
        <Button small look="ghost" onClick={() => onSettle([{ line, text: undefined }])}>
          Leave out
        </Button>
      </span>
    </li>
  );
}

import { useId } from 'react';
import type { ReactNode } from 'react';

import { byteLength } from '../lib/bytes.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { Glyph } from './verdict.tsx';

/** A name and a value as they are typed; a map cannot hold two lines that are the same for a moment. */
export type Pair = readonly [name: string, value: string];

export function pairsOf(map: Readonly<Record<string, string>>): readonly Pair[] {
  return Object.entries(map);
}

/** Lines without a name are left out. */
export function mapOf(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(pairs.flatMap(([name, value]) => (name.trim() === '' ? [] : [[name.trim(), value]])));
}

/** Lines of a name and a value, such as headers or labels. */
export function PairsField({
  label,
  note,
  nouns: [nameWord, valueWord],
  addWords,
  pairs,
  onChange,
  limits,
  error,
  errorLine,
  valueHint,
  isSecret = false,
}: {
  readonly label: string;
  readonly note?: string;
  /** Such as "Header name", "Header value". */
  readonly nouns: readonly [name: string, value: string];
  readonly addWords: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
  /** Most bytes of a name and of a value. */
  readonly limits?: readonly [name: number, value: number];
  readonly error?: ReactNode;
  /** The line that the error is about. */
  readonly errorLine?: number | undefined;
  /** In place of a value that is empty. */
  readonly valueHint?: (name: string) => string;
  /** Values are passwords. */
  readonly isSecret?: boolean;
}) {
  const id = useId();
  const change = (line: number, pair: Pair): void =>
    onChange(pairs.map((each, index) => (index === line ? pair : each)));
  return (
    <fieldset className="stack tight plain">
      <legend className="label">
        {label} {note === undefined ? null : <small className="muted">{note}</small>}
      </legend>
      {pairs.map(([name, value], line) => {
        const isWrong = error !== undefined && errorLine === line;
        const wrong = isWrong ? { 'aria-invalid': true, 'aria-describedby': `${id}-error` } : {};
        return (
          // oxlint-disable-next-line react/no-array-index-key -- lines have no identity but their place
          <div key={line} className="hdr">
            <input
              className="input mono"
              aria-label={nameWord}
              value={name}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => change(line, [event.target.value, value])}
              {...wrong}
            />
            <input
              className="input mono"
              aria-label={valueWord}
              value={value}
              spellCheck={false}
              placeholder={valueHint?.(name)}
              {...(isSecret ? { type: 'password', autoComplete: 'new-password' } : { autoComplete: 'off' })}
              onChange={(event) => change(line, [name, event.target.value])}
            />
            <Button
              look="ghost"
              icon="close"
              aria-label={`Take out ${name === '' ? 'this line' : name}`}
              onClick={() => onChange(pairs.filter((_, index) => index !== line))}
            />
          </div>
        );
      })}
      {error === undefined ? null : (
        <p className="error" id={`${id}-error`} role="alert">
          <Glyph tone="deny" />
          <span>{error}</span>
        </p>
      )}
      <div className="row wrap">
        <Button small icon="plus" onClick={() => onChange([...pairs, ['', '']])}>
          {addWords}
        </Button>
        <span className="grow" />
        <OverLimit pairs={pairs} limits={limits} />
      </div>
    </fieldset>
  );
}

/** How much of the limit the longest value takes, and which name or value is too long. */
function OverLimit({
  pairs,
  limits,
}: {
  readonly pairs: readonly Pair[];
  readonly limits: readonly [name: number, value: number] | undefined;
}) {
  const last = pairs.at(-1);
  if (limits === undefined || last === undefined) return null;
  const [nameLimit, valueLimit] = limits;
  const long = pairs.find(([name, value]) => byteLength(name) > nameLimit || byteLength(value) > valueLimit);
  const [name, value] = long ?? last;
  const isName = byteLength(name) > nameLimit;
  return (
    <span className={long === undefined ? 'bytes' : 'bytes over'} role={long === undefined ? undefined : 'alert'}>
      {isName ? 'name' : 'value'} {byteLength(isName ? name : value)} of {isName ? nameLimit : valueLimit} bytes
    </span>
  );
}

/** A short list of texts that are added and taken out one by one, such as hostports. */
export function TextsField({
  label,
  hint,
  addWords,
  noun,
  placeholder,
  texts,
  onChange,
  error,
  errorLine,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly addWords: string;
  /** Such as "Hostport". */
  readonly noun: string;
  readonly placeholder?: string;
  readonly texts: readonly string[];
  readonly onChange: (texts: readonly string[]) => void;
  readonly error?: ReactNode;
  readonly errorLine?: number | undefined;
}) {
  const id = useId();
  return (
    <fieldset className="stack tight plain">
      <legend className="label">{label}</legend>
      {texts.map((text, line) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no identity but their place
        <div key={line} className="row">
          <input
            className="input mono grow"
            aria-label={noun}
            aria-invalid={error !== undefined && (errorLine ?? 0) === line ? true : undefined}
            aria-describedby={`${id}-about`}
            value={text}
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => onChange(texts.map((each, index) => (index === line ? event.target.value : each)))}
          />
          <Button
            look="ghost"
            aria-label={`Take out ${text === '' ? 'this line' : text}`}
            icon="close"
            onClick={() => onChange(texts.filter((_, index) => index !== line))}
          />
        </div>
      ))}
      <div id={`${id}-about`}>
        {error === undefined ? null : (
          <p className="error" role="alert">
            <Glyph tone="deny" />
            <span>{error}</span>
          </p>
        )}
        {hint === undefined ? null : <div className="hint">{hint}</div>}
      </div>
      <div>
        <button type="button" className="btn sm" onClick={() => onChange([...texts, ''])}>
          <Icon name="plus" />
          {addWords}
        </button>
      </div>
    </fieldset>
  );
}

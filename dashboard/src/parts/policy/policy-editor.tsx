import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';

import { Field } from '../../components/field.tsx';
import { completionsAt } from './completion.ts';
import type { Completion, PolicyWords } from './completion.ts';

/** Height of a line, as the style has it. */
const lineHeight = 20;
const leastLines = 16;

/** A place in the text, counted from 0. */
export interface Span {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

let loading: Promise<PolicyWords> | undefined;

/** Loads the names that are offered, when the first editor opens. */
function useWords(): PolicyWords | undefined {
  const [words, setWords] = useState<PolicyWords>();
  useEffect(() => {
    loading ??= import('./words.json').then(({ default: all }) => all as PolicyWords);
    // Without them the text can be written all the same.
    loading.then(setWords, () => (loading = undefined));
  }, []);
  return words;
}

/** A text area with line numbers, marked lines, and completion. Tab indents; Esc and then Tab leaves it. */
export function PolicyEditor({
  policy,
  onChange,
  fault,
  trueLines,
  error,
}: {
  readonly policy: string;
  readonly onChange: (policy: string) => void;
  /** Where the fault is, if its place is known. */
  readonly fault: Span | undefined;
  /** Lines of expressions that were true. */
  readonly trueLines: readonly number[];
  readonly error: ReactNode;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const words = useWords();
  const [open, setOpen] = useState<Completion>();
  const [chosen, setChosen] = useState(0);
  const mayLeave = useRef(false);
  const lines = useMemo(() => policy.split('\n'), [policy]);
  const columns = useMemo(() => lines.reduce((most, { length }) => Math.max(most, length), 0), [lines]);
  const height = Math.max(lines.length, leastLines) * lineHeight;
  const options = open?.options ?? [];

  const complete = (isAsked: boolean): void => {
    const { current } = area;
    if (current === null || words === undefined) return;
    const { value, selectionStart: caret, selectionEnd } = current;
    const found = completionsAt(value, caret, words);
    const typed = value.slice(found.from, caret);
    const isDone = found.options.length === 1 && found.options[0]?.name === typed;
    const isWanted = caret === selectionEnd && (isAsked || (/\w$/.test(typed) && !isDone));
    setOpen(isWanted && found.options.length > 0 ? found : undefined);
    setChosen(0);
  };
  const write = (text: string, from?: number): void => {
    const { current } = area;
    if (current === null) return;
    if (from !== undefined) current.setSelectionRange(from, current.selectionStart);
    // The one way to change the text that can be undone by the usual keys.
    document.execCommand('insertText', false, text);
  };
  const take = (index: number): void => {
    const option = options[index];
    if (open === undefined || option === undefined) return;
    setOpen(undefined);
    write(option.text, open.from);
    setOpen(undefined);
  };

  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    const { key, ctrlKey, metaKey, altKey } = event;
    const act = (run: () => void): void => {
      event.preventDefault();
      event.stopPropagation();
      run();
    };
    const wasFree = mayLeave.current;
    if (key !== 'Shift') mayLeave.current = false;
    if (ctrlKey && key === ' ') return act(() => complete(true));
    if (ctrlKey || metaKey || altKey) return;
    if (open !== undefined) {
      const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
      if (step !== 0) return act(() => setChosen((chosen + step + options.length) % options.length));
      if (key === 'Enter' || key === 'Tab') return act(() => take(chosen));
      if (key === 'Escape') return act(() => setOpen(undefined));
    }
    // Pressed twice it closes what is around the editor.
    if (key === 'Escape' && !wasFree) return act(() => void (mayLeave.current = true));
    if (key === 'Tab' && !wasFree) return act(() => indent(event.currentTarget, event.shiftKey, write));
    if (key === 'Enter') return act(() => write(`\n${indentOf(event.currentTarget)}`));
    if (key === 'F8' && fault !== undefined) return act(() => selectSpan(event.currentTarget, fault));
  };

  return (
    <Field
      label="Policy"
      error={error}
      hint={
        <>
          YAML or JSON, checked while you type, and kept as it is written. <kbd>Ctrl</kbd> <kbd>Space</kbd> completes ·{' '}
          <kbd>F8</kbd> goes to the fault · <kbd>Esc</kbd> <kbd>Tab</kbd> leaves the editor
        </>
      }
    >
      {(control) => (
        <div className={control['aria-invalid'] === true ? 'code-editor bad' : 'code-editor'}>
          <pre className="numbers" aria-hidden="true">
            {lines.map((_, at) => at + 1).join('\n')}
          </pre>
          <div className="sheet-of-code" style={{ minWidth: `calc(${columns + 2}ch + 12px)`, height }}>
            {trueLines.map((line) => (
              <span key={line} className="marked true" style={{ top: line * lineHeight }} />
            ))}
            {fault === undefined ? null : (
              <>
                <span className="marked bad" style={{ top: fault.line * lineHeight }} />
                <span
                  className="wave"
                  style={{
                    top: fault.line * lineHeight,
                    left: `${fault.start}ch`,
                    width: `${Math.max(1, fault.end - fault.start)}ch`,
                  }}
                />
              </>
            )}
            <textarea
              {...control}
              ref={area}
              className="code-text"
              spellCheck={false}
              autoComplete="off"
              autoCapitalize="off"
              wrap="off"
              placeholder={
                'on_http_request:\n  - expressions:\n      - req.method == "PUT"\n    actions:\n      - type: deny'
              }
              aria-autocomplete="list"
              aria-controls={open === undefined ? undefined : listId}
              aria-activedescendant={open === undefined ? undefined : `${listId}-${chosen}`}
              value={policy}
              onChange={(event) => {
                onChange(event.target.value);
                complete(false);
              }}
              onKeyDown={onKey}
              onBlur={() => {
                mayLeave.current = false;
                setOpen(undefined);
              }}
              onClick={() => setOpen(undefined)}
            />
            {open === undefined ? null : (
              <Options id={listId} open={open} policy={policy} chosen={chosen} onTake={take} />
            )}
          </div>
          <span className="vh" role="status">
            {open === undefined ? '' : `${options.length} to choose from: ${options[chosen]?.name}`}
          </span>
        </div>
      )}
    </Field>
  );
}

function Options({
  id,
  open: { from, options },
  policy,
  chosen,
  onTake,
}: {
  readonly id: string;
  readonly open: Completion;
  readonly policy: string;
  readonly chosen: number;
  readonly onTake: (index: number) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const before = policy.slice(0, from);
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n') - 1;
  return (
    <div
      ref={list}
      className="completion"
      id={id}
      role="listbox"
      tabIndex={-1}
      aria-label="Completion"
      style={{ top: line * lineHeight + 2, left: `${column}ch` }}
    >
      {options.map(({ name, about }, at) => (
        <button
          type="button"
          key={name}
          id={`${id}-${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === chosen}
          // The text area keeps the focus, and has the keys.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(at)}
        >
          <code>{name}</code>
          <span>{about}</span>
        </button>
      ))}
    </div>
  );
}

/** Indentation of a new line: that of the line before, and more behind a colon. */
function indentOf({ value, selectionStart: caret }: HTMLTextAreaElement): string {
  const line = value.slice(value.lastIndexOf('\n', caret - 1) + 1, caret);
  const [spaces = ''] = /^ */.exec(line) ?? [];
  const [dash = ''] = /^(?:- +)+/.exec(line.slice(spaces.length)) ?? [];
  const isItem = dash !== '' && /^[\w.-]+:/.test(line.slice(spaces.length + dash.length));
  return `${spaces}${isItem ? ' '.repeat(dash.length) : ''}${/:\s*$/.test(line) ? '  ' : ''}`;
}

/** Two spaces more at the caret, or fewer at the beginning of its line. */
function indent(area: HTMLTextAreaElement, isBack: boolean, write: (text: string, from?: number) => void): void {
  const { value, selectionStart: caret } = area;
  if (!isBack) {
    write('  ');
    return;
  }
  const start = value.lastIndexOf('\n', caret - 1) + 1;
  const [spaces = ''] = /^ {1,2}/.exec(value.slice(start)) ?? [];
  if (spaces === '') return;
  area.setSelectionRange(start, start + spaces.length);
  document.execCommand('delete');
  area.setSelectionRange(Math.max(start, caret - spaces.length), Math.max(start, caret - spaces.length));
}

export function selectSpan(area: HTMLTextAreaElement, { line, start, end }: Span): void {
  const lines = area.value.split('\n');
  const offset = lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, 0);
  area.focus();
  area.setSelectionRange(offset + start, offset + end);
}

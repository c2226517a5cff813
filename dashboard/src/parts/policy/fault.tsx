import type { Span } from './policy-editor.tsx';

const placed = /\bline (\d+), column (\d+): ([^]*)$/;
/** Characters that stand for themselves, behind which a name ends. */
const word = /^[\w.-]+/;

/** Words of the server about a policy, and where in it they belong. */
export interface PolicyFault {
  readonly words: string;
  readonly span: Span | undefined;
}

/** Takes the place out of the message of an error. */
export function faultOf(message: string, policy: string): PolicyFault {
  const [, line, column, words] = placed.exec(message) ?? [];
  if (words === undefined) return { words: message, span: undefined };
  const at = Number(line) - 1;
  const start = Number(column) - 1;
  const text = policy.split('\n')[at] ?? '';
  const [name = ''] = word.exec(text.slice(start)) ?? [];
  return {
    words,
    span: { line: at, start, end: name === '' ? Math.max(text.length, start + 1) : start + name.length },
  };
}

/** A fault of the policy, with a button that leads to it. */
export function Fault({
  fault: { words, span },
  onShow,
}: {
  readonly fault: PolicyFault;
  readonly onShow: () => void;
}) {
  if (span === undefined) return words;
  return (
    <>
      <b>
        Line {span.line + 1}, column {span.start + 1}.
      </b>{' '}
      {words}{' '}
      <button type="button" className="btn sm" onClick={onShow}>
        Show line {span.line + 1}
      </button>
    </>
  );
}

const placed = /\bline (\d+), column (\d+): ([^]*)$/;
const longestShown = 60;

/** A fault of the policy, with the line it stands in. */
export function Fault({
  message,
  policy,
  onShow,
}: {
  readonly message: string;
  readonly policy: string;
  readonly onShow: (start: number, end: number) => void;
}) {
  const [, line, column, words] = placed.exec(message) ?? [];
  if (words === undefined) return message;
  const lines = policy.split('\n');
  const text = lines[Number(line) - 1] ?? '';
  const start = lines.slice(0, Number(line) - 1).join('\n').length + (line === '1' ? 0 : 1);
  const place = Number(column) - 1;
  const first = Math.max(0, place - longestShown / 2);
  return (
    <>
      <b>
        Line {line}, column {column}.
      </b>{' '}
      {words}{' '}
      <button type="button" className="btn sm" onClick={() => onShow(start + place, start + text.length)}>
        Show line {line}
      </button>
      <code className="fault-line">
        {text.slice(first, place)}
        <mark>{text.slice(place, first + longestShown) || ' '}</mark>
      </code>
    </>
  );
}

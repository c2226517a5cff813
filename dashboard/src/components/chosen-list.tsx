/** Entries that were chosen, in their order, each with a way to take it out, and a choice of one more. */
export function ChosenList({
  control,
  chosen,
  ids,
  nameOf,
  words,
  onChange,
}: {
  /** Ties the choice to its label, hint and error. */
  readonly control: object;
  readonly chosen: readonly string[];
  /** All that can be chosen. */
  readonly ids: readonly string[];
  readonly nameOf: (id: string) => string;
  readonly words: { readonly none: string; readonly all: string; readonly add: string };
  readonly onChange: (ids: readonly string[]) => void;
}) {
  const rest = ids.filter((id) => !chosen.includes(id));
  return (
    <>
      {chosen.map((id) => (
        <span key={id} className="row">
          <span className="grow">{nameOf(id)}</span>
          <button
            type="button"
            className="btn sm"
            aria-label={`Take out ${nameOf(id)}`}
            onClick={() => onChange(chosen.filter((each) => each !== id))}
          >
            Take out
          </button>
        </span>
      ))}
      <select
        {...control}
        className="input"
        value=""
        onChange={(event) => onChange([...chosen, event.target.value])}
        disabled={rest.length === 0}
      >
        <option value="">{ids.length === 0 ? words.none : rest.length === 0 ? words.all : words.add}</option>
        {rest.map((id) => (
          <option key={id} value={id}>
            {nameOf(id)}
          </option>
        ))}
      </select>
    </>
  );
}

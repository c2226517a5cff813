/** The first hostports of an edge, and how many more there are. */
export function HostportCell({ hostports }: { readonly hostports: readonly string[] | null }) {
  const [first, ...rest] = hostports ?? [];
  if (first === undefined) return <span className="muted">Nowhere yet</span>;
  return (
    <>
      <code className="main" title={(hostports ?? []).join('\n')}>
        {first}
      </code>
      {rest.length === 0 ? null : <span className="sub">and {rest.length} more</span>}
    </>
  );
}

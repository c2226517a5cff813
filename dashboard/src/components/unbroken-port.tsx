/** A text that breaks before its port, never inside of it. */
export function UnbrokenPort({ text }: { readonly text: string }) {
  const [, before, port, after] = /^(.*)(:\d+)(.*)$/s.exec(text) ?? [];
  if (port === undefined) return text;
  return (
    <>
      {before}
      <wbr />
      <bdi className="nowrap">{port}</bdi>
      {after}
    </>
  );
}

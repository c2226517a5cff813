/** Arguments for PostgreSQL's own tools, quoted for a shell, without the password: others see a command's arguments. */
export function pgToolArguments(url: string, file: string): { readonly target: string; readonly quoted: string } {
  const target = new URL(url);
  target.password = '';
  return { target: quote(target.href), quoted: quote(file) };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

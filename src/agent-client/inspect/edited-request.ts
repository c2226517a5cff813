import type { Exchange } from './exchange.ts';
import type { ReplayChanges } from './replay.ts';
import { showRequest } from './shown.ts';

/** What the form for a changed request has sent. What stands as it was shown goes as it came, secrets included. */
export async function changesOf(exchange: Exchange, form: URLSearchParams): Promise<ReplayChanges> {
  if (form.get('edited') === null) return {};
  const shown = await showRequest(exchange);
  const [method = '', target = ''] = shown.line.split(' ');
  const body = plainLines(form.get('body') ?? undefined);
  const isSameBody = body === undefined || body === plainLines(shown.text);
  return {
    method: changed(form.get('method')?.trim(), method),
    target: changed(form.get('target')?.trim(), target),
    headers: changedHeaders(exchange, shown.headers, plainLines(form.get('headers') ?? undefined)),
    body: isSameBody ? undefined : Buffer.from(body),
  };
}

/** Each header that is named as often as before and has a value that was shown takes the value that came. */
function changedHeaders(
  { request }: Exchange,
  shown: readonly string[],
  text: string | undefined,
): readonly string[] | undefined {
  if (text === undefined) return undefined;
  const given = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 1 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    });
  if (given.length === shown.length && given.every((part, at) => part === shown[at])) return undefined;
  const left = new Set(shown.keys());
  return given.flatMap((name, at) => {
    if (at % 2 === 1) return [];
    const value = given[at + 1] ?? '';
    const known = [...left].find(
      (index) => index % 2 === 0 && shown[index]?.toLowerCase() === name.toLowerCase() && shown[index + 1] === value,
    );
    if (known === undefined) return [name, value];
    left.delete(known);
    return [name, request.headers[known + 1] ?? value];
  });
}

function changed(given: string | undefined, shown: string): string | undefined {
  return given === shown ? undefined : given;
}

/** Forms send line ends as CR LF, whatever they were. */
function plainLines(text: string | undefined): string | undefined {
  return text?.replaceAll('\r\n', '\n');
}

import { useState } from 'react';

import { ButtonGroup } from '../../components/button.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import { MaskedText } from './masked-text.tsx';
import type { Inspected } from './use-inspection.ts';

type Sent = Inspected['request'];

/** JSON of more levels is shown as it came: indented, it would be longer by the square of them. */
const deepest = 20;

/** Headers and body of a request or an answer. */
export function Message({ message, what }: { readonly message: Sent; readonly what: string }) {
  const { headers, body, body_bytes: bytes, body_kept: kept } = message;
  const [as, setAs] = useState<'pretty' | 'raw'>('pretty');
  // Headers of one message never change their places.
  const lines = headers.map((each, at) => ({ ...each, key: String(at) }));
  const pretty = body === undefined ? undefined : indented(body);
  return (
    <>
      <section className="stack tight">
        <h3>Headers, {headers.length}</h3>
        {headers.length === 0 ? (
          <p className="muted">None</p>
        ) : (
          <dl className="hdrs" aria-label={`Headers of the ${what}`}>
            {lines.flatMap(({ name, value, key }) => [
              <dt key={`${key} name`}>
                <MaskedText text={name} />
              </dt>,
              <dd key={key}>
                <MaskedText text={value} />
              </dd>,
            ])}
          </dl>
        )}
      </section>
      <section className="stack tight">
        <div className="row">
          <h3 className="grow">{bytes === 0 ? 'No body' : `Body, ${formatBytes(bytes)}`}</h3>
          {pretty === undefined ? null : (
            <ButtonGroup
              label={`Body of the ${what} as`}
              value={as}
              options={[
                ['pretty', 'Indented'],
                ['raw', 'As it came'],
              ]}
              onChange={setAs}
            />
          )}
        </div>
        {kept === 'start' ? <p className="muted">Too large: only the start of it is kept.</p> : null}
        {body === undefined ? (
          bytes === 0 ? null : (
            <p className="muted">It is no text, in which no secret could be found, and so it is not kept.</p>
          )
        ) : (
          // A long body is scrolled by keys.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <pre className="code" tabIndex={0} aria-label={`Body of the ${what}`}>
            <MaskedText text={as === 'pretty' ? (pretty ?? body) : body} />
          </pre>
        )}
      </section>
    </>
  );
}

/** Undefined for what is no JSON, or would lose something by being read, as long numbers would. */
function indented(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text) || depthOf(text) > deepest) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const compact = JSON.stringify(value);
    return compact === text.replaceAll(/\s/g, '') || compact === text ? JSON.stringify(value, null, 2) : undefined;
  } catch {
    return undefined;
  }
}

/** At least the depth: brackets in texts count too. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (const character of text) {
    if (character === '{' || character === '[') most = Math.max(most, ++depth);
    else if (character === '}' || character === ']') depth--;
  }
  return most;
}

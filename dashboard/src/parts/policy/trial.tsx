import { useEffect, useState } from 'react';

import type { TrafficPolicyCheckRequest, TrafficPolicyCheckVerdict } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { mapOf, PairsField } from '../../components/list-fields.tsx';
import type { Pair } from '../../components/list-fields.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { useDebounced } from '../../lib/debounced.ts';

/** A described request, and what the policy as it is written would do to it. */
export function Trial({
  policy,
  isFaulty,
  url: firstUrl,
  onVerdict,
}: {
  readonly policy: string;
  readonly isFaulty: boolean;
  /** The visit that it begins with. */
  readonly url: string;
  /** Told whenever there is another one. */
  readonly onVerdict?: (verdict: TrafficPolicyCheckVerdict | undefined) => void;
}) {
  const { address } = useSession();
  const [method, setMethod] = useState('GET');
  const [url, setUrl] = useState(firstUrl);
  const [ip, setIp] = useState(address);
  const [headers, setHeaders] = useState<readonly Pair[]>([]);
  const [status, setStatus] = useState('');
  const named = mapOf(headers);
  const request = useDebounced(
    JSON.stringify({
      method,
      url: url.trim(),
      ip: ip.trim(),
      ...(Object.keys(named).length === 0 ? {} : { headers: named }),
      ...(status === '' ? {} : { response: { status_code: Number(status) } }),
    }),
  );
  const { data, error } = useOne(
    'TrafficPolicyCheck',
    // Made of texts just now.
    { body: { policy, request: JSON.parse(request) as NonNullable<TrafficPolicyCheckRequest['request']> } },
    { enabled: policy.trim() !== '' && !isFaulty },
  );
  const verdict = policy.trim() === '' || isFaulty ? undefined : data?.document;
  useEffect(() => onVerdict?.(verdict), [verdict, onVerdict]);
  return (
    <div className="stack tight">
      <span className="label">Trial: nothing is sent</span>
      <div className="row end wrap">
        <SelectField
          label="Method"
          value={method}
          options={['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((each) => [each, each] as const)}
          onChange={setMethod}
        />
        <div className="grow">
          <TextField label="URL" mono value={url} onChange={setUrl} />
        </div>
        <TextField label="Address of the visitor" mono value={ip} onChange={setIp} />
      </div>
      <details>
        <summary className="soft">Headers, and the answer of the upstream</summary>
        <div className="stack tight">
          <PairsField
            label="Headers of the request"
            nouns={['Header name', 'Header value']}
            addWords="Add a header"
            pairs={headers}
            onChange={setHeaders}
          />
          <TextField
            label="Status of the upstream’s answer"
            note="optional"
            type="number"
            value={status}
            onChange={setStatus}
            hint="Rules in on_http_response are tried with it."
          />
        </div>
      </details>
      {policy.trim() === '' ? (
        <p className="soft">Write a rule, and see here what becomes of a request.</p>
      ) : isFaulty ? (
        <p className="soft">The policy has a fault. When it is mended, this tells what becomes of the request.</p>
      ) : error !== undefined ? (
        <p className="soft">{error.message}</p>
      ) : data === undefined ? null : (
        <Told verdict={data.document} />
      )}
    </div>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  passes: 'allow',
  forwards: 'allow',
  answers: 'ask',
  matches: 'allow',
  refuses: 'deny',
  closes: 'deny',
  fault: 'warn',
  depends: 'ask',
};

const words: Readonly<Record<string, string>> = {
  matches: 'Matches',
  does_not_match: 'Does not match',
  fault: 'An expression has no value',
  depends: 'Depends on more',
  not_reached: 'Not reached',
};

function Told({ verdict }: { readonly verdict: TrafficPolicyCheckVerdict }) {
  return (
    <>
      <Verdict tone={tones[verdict.verdict] ?? 'off'}>{verdict.explanation}</Verdict>
      <ul className="rules">
        {verdict.rules.map(({ path, name, result, expressions, actions }) => (
          <li key={path} className="stack">
            <span className="row">
              <Glyph tone={tones[result] ?? 'off'} />
              <b>{name ?? path}</b> {words[result]}
            </span>
            {expressions.map(({ expression, result: value, reason }) => (
              <span key={expression} className="tried">
                <code>{expression}</code> <span className="soft">is {reason ?? value}</span>
              </span>
            ))}
            {actions.map(({ path: place, type, effect }) => (
              <span key={place} className="tried">
                <b>{type}</b> <span className="soft">{effect}</span>
              </span>
            ))}
          </li>
        ))}
      </ul>
      <Ends verdict={verdict} />
      {verdict.depends_on.map((each) => (
        <p key={each} className="soft">
          It depends on {each}.
        </p>
      ))}
    </>
  );
}

/** The request as it goes on, and the answer that the visitor gets, as far as they are known. */
function Ends({ verdict: { upstream, answer } }: { readonly verdict: TrafficPolicyCheckVerdict }) {
  // The API declares both loosely.
  const goesOn = upstream as { readonly url: string; readonly headers: readonly Header[] } | null;
  const given = answer as {
    readonly status_code: number;
    readonly headers: readonly Header[];
    readonly body: string | null;
  } | null;
  return (
    <>
      {goesOn === null ? null : (
        <details>
          <summary className="soft">What goes on</summary>
          <code className="told-lines">{[goesOn.url, ...goesOn.headers.map(lineOf)].join('\n')}</code>
        </details>
      )}
      {given === null ? null : (
        <details>
          <summary className="soft">What the visitor gets: {given.status_code}</summary>
          <code className="told-lines">
            {[...given.headers.map(lineOf), ...(given.body === null ? [] : ['', given.body])].join('\n')}
          </code>
        </details>
      )}
    </>
  );
}

interface Header {
  readonly name: string;
  readonly value: string;
}

function lineOf({ name, value }: Header): string {
  return `${name}: ${value}`;
}

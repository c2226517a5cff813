import { useState } from 'react';

import type { TrafficPolicyCheckVerdict } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { useDebounced } from '../../lib/debounced.ts';

/** A described request, and what the policy as it is written would do to it. */
export function Trial({
  policy,
  isFaulty,
  url: firstUrl,
}: {
  readonly policy: string;
  readonly isFaulty: boolean;
  /** The visit that it begins with. */
  readonly url: string;
}) {
  const { address } = useSession();
  const [method, setMethod] = useState('GET');
  const [url, setUrl] = useState(firstUrl);
  const [ip, setIp] = useState(address);
  const request = useDebounced(JSON.stringify({ method, url: url.trim(), ip: ip.trim() }));
  const { data, error } = useOne(
    'TrafficPolicyCheck',
    // Made of texts just now.
    { body: { policy, request: JSON.parse(request) as { method: string; url: string; ip: string } } },
    { enabled: policy.trim() !== '' && !isFaulty },
  );
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
      {verdict.depends_on.map((each) => (
        <p key={each} className="soft">
          It depends on {each}.
        </p>
      ))}
    </>
  );
}

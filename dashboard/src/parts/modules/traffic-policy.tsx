import { useState } from 'react';

import type { TrafficPolicyCheckVerdict } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { useDebounced } from '../../lib/debounced.ts';
import type { ModuleEdit, ModuleKind } from './kind.ts';
import type { ModuleTarget } from './target.ts';

function Fields({ edit, document }: { readonly edit: ModuleEdit; readonly document: ModuleTarget['document'] }) {
  const policy = String(edit.values['value']);
  const settled = useDebounced(policy);
  const { error } = useOne('TrafficPolicyCheck', { body: { policy: settled } }, { enabled: settled.trim() !== '' });
  const fault = settled.trim() === '' ? undefined : error?.message;
  return (
    <>
      <TextField
        label="Policy"
        mono
        rows={16}
        placeholder={
          'on_http_request:\n  - expressions:\n      - req.method == "PUT"\n    actions:\n      - type: deny'
        }
        value={policy}
        onChange={(next) => edit.set('value', next)}
        error={edit.errorAt('value') ?? fault}
        hint="YAML or JSON, with rules for each phase. It is checked while you type, and kept as it is written."
      />
      <Trial policy={settled} match={'match' in document ? document.match : undefined} />
    </>
  );
}

/** A described request, and what the policy as it is written would do to it. */
function Trial({ policy, match }: { readonly policy: string; readonly match: string | undefined }) {
  const { address } = useSession();
  const [method, setMethod] = useState('GET');
  const [url, setUrl] = useState(
    match === undefined ? 'tcp://tcp.example.com:5432' : `https://www.example.com${match}`,
  );
  const [ip, setIp] = useState(address);
  const request = useDebounced(JSON.stringify({ method, url: url.trim(), ip: ip.trim() }));
  const { data, error } = useOne(
    'TrafficPolicyCheck',
    // Made of texts just now.
    { body: { policy, request: JSON.parse(request) as { method: string; url: string; ip: string } } },
    { enabled: policy.trim() !== '' },
  );
  return (
    <div className="stack tight">
      <span className="label">Trial: nothing is sent</span>
      <div className="row end">
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
      {policy.trim() === '' ? null : error !== undefined ? (
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
          <li key={path}>
            <Glyph tone={tones[result] ?? 'off'} />
            <span className="grow">
              <b>{name ?? path}</b> · {words[result]}
              <span className="soft">
                {' '}
                {expressions
                  .map(({ expression, result: value, reason }) => `${expression} is ${reason ?? value}.`)
                  .join(' ')}
              </span>
              {actions.map(({ path: place, type, effect }) => (
                <span key={place} className="soft">
                  {' '}
                  {type}: {effect}.
                </span>
              ))}
            </span>
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

/** Errors of policies: all are about the one text. */
const errors = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [2200 + at, 'value']));

export const trafficPolicyKind: ModuleKind = {
  icon: 'filter',
  title: 'Traffic policy',
  badge: 'Policy',
  whenNotSet: 'No rules of a policy',
  errors,
  toValues: (view) => ({ enabled: view?.enabled ?? true, value: view?.['value'] ?? '' }),
  toSettings: ({ enabled, value }) => Promise.resolve({ enabled, value: String(value) }),
  Summary: ({ view }) => {
    const text = String(view['value']);
    const phases = ['on_tcp_connect', 'on_http_request', 'on_http_response'].filter((phase) => text.includes(phase));
    return phases.length === 0 ? 'Without rules' : `Rules in ${phases.join(', ')}`;
  },
  Fields,
};

import { useRef, useState } from 'react';

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
  const wrapper = useRef<HTMLDivElement>(null);
  const policy = String(edit.values['value']);
  const settled = useDebounced(policy);
  const { error } = useOne('TrafficPolicyCheck', { body: { policy: settled } }, { enabled: settled.trim() !== '' });
  const fault = edit.errorAt('value') ?? (settled.trim() === '' ? undefined : error?.message);
  const select = (start: number, end: number) => {
    const area = wrapper.current?.querySelector('textarea');
    area?.focus();
    area?.setSelectionRange(start, end);
  };
  return (
    <div className="cols policy" ref={wrapper}>
      <TextField
        label="Policy"
        mono
        rows={22}
        placeholder={
          'on_http_request:\n  - expressions:\n      - req.method == "PUT"\n    actions:\n      - type: deny'
        }
        value={policy}
        onChange={(next) => edit.set('value', next)}
        error={typeof fault === 'string' ? <Fault message={fault} policy={settled} onShow={select} /> : fault}
        hint="YAML or JSON, with rules for each phase. It is checked while you type, and kept as it is written."
      />
      <Trial policy={settled} isFaulty={fault !== undefined} match={'match' in document ? document.match : undefined} />
    </div>
  );
}

const placed = /^line (\d+), column (\d+): ([^]*)$/;
const longestShown = 60;

/** A fault of the policy, with the line it stands in. */
function Fault({
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

/** A described request, and what the policy as it is written would do to it. */
function Trial({
  policy,
  isFaulty,
  match,
}: {
  readonly policy: string;
  readonly isFaulty: boolean;
  readonly match: string | undefined;
}) {
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

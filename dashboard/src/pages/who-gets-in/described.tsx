import { useState } from 'react';

import type { IpCheckRequest } from '../../../../client/src/index.ts';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { mapOf, PairsField } from '../../components/list-fields.tsx';
import type { Pair } from '../../components/list-fields.tsx';
import type { UrlChange } from '../../lib/url-state.ts';
import { useAuthorities } from '../../parts/authorities.ts';

/** What is known of a visitor beside the address. */
export type Described = Pick<IpCheckRequest, 'visitor' | 'headers' | 'certificate'>;

const showsNone = 'none';

/** A link shows the same to a colleague, but for headers: they may hold passwords. */
export function describedIn(params: URLSearchParams, headers: readonly Pair[]): Described {
  const email = params.get('email') ?? '';
  const groups = groupsIn(params);
  const certificate = params.get('certificate');
  const named = mapOf(headers);
  return {
    ...(email === '' && groups.length === 0 ? {} : { visitor: { ...(email !== '' && { email }), groups } }),
    ...(certificate === null ? {} : { certificate: certificate === showsNone ? {} : { authority_id: certificate } }),
    ...(Object.keys(named).length === 0 ? {} : { headers: named }),
  };
}

function groupsIn(params: URLSearchParams): string[] {
  const texts = (params.get('groups') ?? '').split(',').map((each) => each.trim());
  return texts.filter((each) => each !== '');
}

/** Asks for who the visitor is and what they show, so that doors that ask for more can be decided too. */
export function DescribeVisitor({
  params,
  headers,
  onDescribe,
}: {
  readonly params: URLSearchParams;
  readonly headers: readonly Pair[];
  readonly onDescribe: (change: UrlChange, headers: readonly Pair[]) => void;
}) {
  const authorities = useAuthorities();
  const [email, setEmail] = useState(params.get('email') ?? '');
  const [groups, setGroups] = useState(params.get('groups') ?? '');
  const [certificate, setCertificate] = useState(params.get('certificate') ?? '');
  const [pairs, setPairs] = useState(headers);
  const isDescribed = Object.keys(describedIn(params, headers)).length > 0;
  const forget = (): void => {
    setEmail('');
    setGroups('');
    setCertificate('');
    setPairs([]);
    onDescribe({ email: undefined, groups: undefined, certificate: undefined }, []);
  };
  return (
    <details open={isDescribed}>
      <summary className="soft">Describe the visitor</summary>
      <Form
        label="Describe the visitor"
        onSubmit={() => onDescribe({ email: email.trim(), groups: groups.trim(), certificate }, pairs)}
      >
        <p className="soft">
          Doors that ask for a login, a certificate or a password then say what they do with this visitor. What you
          leave empty stays unknown.
        </p>
        <TextField
          label="Verified e-mail address"
          mono
          value={email}
          onChange={setEmail}
          placeholder="ada@example.com"
        />
        <TextField
          label="Groups"
          hint="All of them, with commas between them."
          mono
          value={groups}
          onChange={setGroups}
          placeholder="ops, on-call"
        />
        <SelectField
          label="Certificate"
          value={certificate}
          onChange={setCertificate}
          options={[
            ['', 'Unknown'],
            [showsNone, 'The visitor shows none'],
            ...authorities.ids.map((id) => [id, `A valid one of ${authorities.nameOf(id)}`] as const),
          ]}
        />
        <PairsField
          label="Request headers"
          note="all of them; never part of a link"
          nouns={['Header name', 'Header value']}
          addWords="Add a header"
          pairs={pairs}
          onChange={setPairs}
        />
        <div className="row">
          <Button type="submit">Check with this</Button>
          {isDescribed ? (
            <Button look="ghost" onClick={forget}>
              Forget it
            </Button>
          ) : null}
        </div>
      </Form>
    </details>
  );
}

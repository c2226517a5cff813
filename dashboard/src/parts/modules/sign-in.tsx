import { Check, SelectField, TextField } from '../../components/field.tsx';
import { TextsField } from '../../components/list-fields.tsx';
import { Callbacks } from './callbacks.tsx';
import { PolicyChoice } from '../policy-choice.tsx';
import { policyIdsIn } from './ip-restriction.tsx';
import type { ModuleEdit, ModuleKind, Values } from './kind.ts';
import { textsIn } from './schema-form.tsx';
import type { Settings } from './schema.ts';
import type { ModuleTarget, ModuleView } from './target.ts';

const networks = [
  ['any', 'A login, from everywhere'],
  ['or_login', 'A trusted network or a login'],
  ['and_login', 'Both: only from a trusted network, and only after a login'],
] as const;
type Network = (typeof networks)[number][0];

const providers = [
  ['github', 'GitHub'],
  ['google', 'Google'],
  ['microsoft', 'Microsoft'],
  ['gitlab', 'GitLab'],
  ['linkedin', 'LinkedIn'],
  ['twitch', 'Twitch'],
  ['facebook', 'Facebook'],
  ['amazon', 'Amazon'],
] as const satisfies readonly (readonly [string, string])[];

/** Fields of the module that stand with its provider. */
const ofProvider: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'scopes',
  'email_addresses',
  'email_domains',
  'organizations',
  'teams',
]);

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';
const linesOf = (value: unknown): readonly string[] =>
  textsIn(value)
    .map((line) => line.trim())
    .filter((line) => line !== '');

function Fields({
  edit,
  isNamed,
  document,
}: {
  readonly edit: ModuleEdit;
  readonly isNamed: boolean;
  readonly document: ModuleTarget['document'];
}) {
  const { values } = edit;
  const network = textOf(values['network']) as Network;
  const text = (name: string, label: string, hint?: string) => (
    <TextField
      label={label}
      mono
      value={textOf(values[name])}
      onChange={(next) => edit.set(name, next)}
      error={edit.errorAt(name)}
      {...(hint === undefined ? {} : { hint })}
    />
  );
  const list = (name: string, label: string, noun: string, placeholder: string) => (
    <TextsField
      label={label}
      noun={noun}
      addWords={`Add ${noun.toLowerCase()}`}
      placeholder={placeholder}
      texts={textsIn(values[name])}
      onChange={(next) => edit.set(name, next)}
      error={edit.errorAt(name)}
    />
  );
  const domains = linesOf(values['email_domains']);
  const groups = linesOf(values['groups']);
  return (
    <>
      {isNamed ? (
        <SelectField
          label="Provider"
          value={textOf(values['provider'])}
          options={providers}
          onChange={(next) => edit.set('provider', next)}
          error={edit.errorAt('provider')}
        />
      ) : (
        text('issuer', 'Provider (issuer)', 'The URL by which the OpenID provider names itself.')
      )}
      {text('client_id', 'Client id')}
      <TextField
        label="Client secret"
        type="password"
        autoComplete="new-password"
        value={textOf(values['client_secret'])}
        placeholder={values['hasSecret'] === true ? 'stays as it is' : ''}
        onChange={(next) => edit.set('client_secret', next)}
        error={edit.errorAt('client_secret')}
      />
      <Callbacks document={document} />
      <p className="label">Who may enter</p>
      <p className="hint">One match is enough. If all are empty, everybody whom the provider knows may enter.</p>
      {isNamed ? null : list('groups', 'Groups', 'Group', 'ops')}
      {values['provider'] === 'github' ? list('organizations', 'Organizations', 'Organization', 'example') : null}
      {values['provider'] === 'github' ? list('teams', 'Teams', 'Team', 'example/ops') : null}
      {list('email_addresses', 'Mail addresses', 'Address', 'ada@example.com')}
      {list('email_domains', 'Mail domains', 'Domain', 'example.com')}
      {domains.length > 0 && groups.length > 0 ? (
        <p className="hint">
          Everybody of {domains.map((domain) => `@${domain.replace(/^@/, '')}`).join(', ')} may enter: the groups do not
          narrow it.
        </p>
      ) : null}
      <SelectField
        label="Network and login"
        value={network}
        options={networks}
        onChange={(next) => edit.set('network', next)}
        error={edit.errorAt('network')}
        hint={
          network === 'any'
            ? 'The network does not matter.'
            : network === 'or_login'
              ? 'Visitors whom the IP policies allow need no login. All others sign in.'
              : 'Visitors whom the IP policies do not allow are refused.'
        }
      />
      {network === 'any' ? null : (
        <PolicyChoice
          label="Trusted network"
          hint="The rules of all these IP policies together say which addresses are trusted."
          chosen={textsIn(values['ip_policy_ids'])}
          onChange={(ids) => edit.set('ip_policy_ids', ids)}
          error={edit.errorAt('ip_policy_ids')}
        />
      )}
      <TextField
        label="Ends without use after (seconds)"
        type="number"
        value={textOf(values['inactivity_timeout'])}
        onChange={(next) => edit.set('inactivity_timeout', Number(next))}
        error={edit.errorAt('inactivity_timeout')}
        hint="0: no such limit."
      />
      <TextField
        label="Ends at the latest after (seconds)"
        type="number"
        value={textOf(values['maximum_duration'])}
        onChange={(next) => edit.set('maximum_duration', Number(next))}
        error={edit.errorAt('maximum_duration')}
        hint="0: 14 days."
      />
      <Check isOn={values['options_passthrough'] === true} onChange={(isOn) => edit.set('options_passthrough', isOn)}>
        CORS preflights (OPTIONS) need no login.
      </Check>
      <Check isOn={values['upstream_token'] === true} onChange={(isOn) => edit.set('upstream_token', isOn)}>
        The upstream also gets a signed token.
      </Check>
      <p className="soft">
        The upstream gets <code>Gatehouse-User-Id</code>, <code>-Email</code>, <code>-Name</code> and{' '}
        <code>-Groups</code>; a visitor’s own are removed.
      </p>
    </>
  );
}

/** Fields that the form does not show keep what they have. */
function toValues(view: ModuleView | null): Values {
  const { ip_policies: _policies, ...shown } = (view ?? {}) as Record<string, unknown>;
  return {
    enabled: true,
    issuer: '',
    client_id: '',
    client_secret: '',
    groups: [],
    email_addresses: [],
    email_domains: [],
    network: 'any',
    inactivity_timeout: 0,
    maximum_duration: 0,
    options_passthrough: false,
    upstream_token: false,
    ...shown,
    ip_policy_ids: policyIdsIn(view),
    hasSecret: view !== null,
  };
}

function toSettings({ hasSecret: _hasSecret, client_secret, ...values }: Values): Promise<Settings> {
  return Promise.resolve({
    ...values,
    groups: linesOf(values['groups']),
    email_addresses: linesOf(values['email_addresses']),
    email_domains: linesOf(values['email_domains']),
    ip_policy_ids: values['network'] === 'any' ? [] : textsIn(values['ip_policy_ids']),
    ...(client_secret === '' ? {} : { client_secret }),
  });
}

/** The provider that is set, with its settings. */
function providerIn(view: ModuleView | null): readonly [name: string, settings: object] {
  const set = Object.entries((view?.['provider'] ?? {}) as Readonly<Record<string, object | null>>);
  for (const [name, settings] of set) if (settings !== null) return [name, settings];
  return ['github', {}];
}

function rulesOf(view: Values): string {
  const of = (name: string): readonly string[] => textsIn(view[name]);
  const rules = [
    ...['groups', 'organizations', 'teams', 'email_addresses'].flatMap(of),
    ...of('email_domains').map((each) => `@${each}`),
  ];
  const network = { or_login: ', or a trusted network', and_login: ', from a trusted network only' }[
    textOf(view['network'])
  ];
  return `${rules.length === 0 ? 'everybody whom it knows' : rules.slice(0, 3).join(', ')}${network ?? ''}`;
}

const errors: Readonly<Record<number, string>> = {
  20_310: 'provider',
  20_311: 'issuer',
  20_312: 'ip_policy_ids',
  20_313: 'ip_policy_ids',
  20_316: 'email_addresses',
  20_317: 'email_domains',
  20_318: 'client_secret',
  7007: 'ip_policy_ids',
};

const shared = {
  icon: 'sign-in',
  badge: 'Sign-in',
  errors,
} as const;

export const oidcKind: ModuleKind = {
  ...shared,
  title: 'Sign-in',
  whenNotSet: 'No OpenID provider is asked who visitors are',
  toValues,
  toSettings,
  Summary: ({ view }) => `${textOf(view['issuer']).replace('https://', '')}: ${rulesOf(view)}`,
  Fields: ({ edit, document }) => <Fields edit={edit} document={document} isNamed={false} />,
};

export const oauthKind: ModuleKind = {
  ...shared,
  title: 'Sign-in with a well-known provider',
  whenNotSet: 'GitHub, Google and others are not asked who visitors are',
  toValues(view) {
    const [provider, settings] = providerIn(view);
    const { issuer: _issuer, ...values } = toValues(view);
    return { ...values, organizations: [], teams: [], ...settings, provider };
  },
  async toSettings(values) {
    const all: Values = {
      ...(await toSettings(values)),
      organizations: linesOf(values['organizations']),
      teams: linesOf(values['teams']),
    };
    const isOwn = (name: string): boolean => ofProvider.has(name);
    const own = Object.fromEntries(Object.entries(all).filter(([name]) => isOwn(name)));
    const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !isOwn(name)));
    return { ...rest, provider: { [textOf(values['provider'])]: own } };
  },
  Summary({ view }) {
    const [name, settings] = providerIn(view);
    const title = providers.find(([each]) => each === name)?.[1] ?? name;
    return `${title}: ${rulesOf({ ...view, ...settings })}`;
  },
  Fields: ({ edit, document }) => <Fields edit={edit} document={document} isNamed />,
};

import { EvaluationFault } from '../../../lib/cel/run.ts';
import { bool, listOf, objectOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { headerValues } from '../../../lib/header-list.ts';
import { isToken } from '../../../lib/http-syntax.ts';
import { faultOfProviderUrl } from '../../../lib/provider-url.ts';
import { findProvider, providerNames } from '../../oauth/service.ts';
import { signInStep } from '../../sign-in-step.ts';
import { acceptEmails, acceptSignIn, buildSignIn } from '../../sign-in-settings.ts';
import type { SignIn, SignInProvider } from '../../sign-in.ts';
import type { RequestVisit } from '../../step.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Template } from '../document/template.ts';
import { invalidConfig, invalidUrl, invalidValue } from '../errors.ts';
import { visitOfSecrets } from '../variables/secrets.ts';
import type { Action, BuiltAction } from './action.ts';

const mostScopes = 50;
const mostParameters = 20;
const longestText = 4096;
const longestMs = 400 * 86_400_000;

/** Parameters of the request for a login on which its safety rests. */
const ownParameters: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

const identity = objectOf('identity', {
  provider_user_id: string,
  email: string,
  name: string,
  groups: listOf(string),
});
const fields = { identity, is_signed_in: bool };

/** Asks visitors to sign in with one of the well-known providers. */
export const oauth: Action = {
  type: 'oauth',
  phases: ['on_http_request'],
  guards: true,
  result: { name: 'oauth', fields },
  build(config) {
    const id = config.required('provider', config.oneOf('provider', providerNames));
    const { issuer, scopes, groupsClaim = 'groups', differs } = findProvider(id);
    return buildLogin(config, 'oauth', (asked) => ({
      name: id,
      issuer,
      scopes: asked.length === 0 ? scopes : asked,
      groupsClaim,
      differs,
    }));
  },
};

/** Asks visitors to sign in with an OpenID provider. */
export const openidConnect: Action = {
  type: 'openid-connect',
  phases: ['on_http_request'],
  guards: true,
  result: { name: 'oidc', fields: { ...fields, identity_token: string } },
  build(config) {
    const issuer = written(config, 'issuer_url');
    const reason = faultOfProviderUrl(issuer);
    if (reason !== undefined) throw config.fault(invalidUrl, 'issuer_url', reason);
    return buildLogin(config, 'oidc', (asked) => ({
      name: 'oidc',
      issuer,
      scopes: asked.length === 0 ? ['openid', 'profile', 'email'] : [...new Set(['openid', ...asked])],
      groupsClaim: 'groups',
      differs: undefined,
    }));
  },
};

type ProviderOf = (scopes: readonly string[]) => Omit<SignInProvider, 'clientId' | 'clientSecret'>;

function buildLogin(config: ConfigReader, result: string, providerOf: ProviderOf): BuiltAction {
  for (const name of ['client_id', 'client_secret']) {
    if (config.raw(name) !== undefined) continue;
    const reason =
      'there is no application here that accounts share; register one with the provider, and give both client_id and client_secret';
    throw config.fault(invalidConfig, name, reason);
  }
  if (config.raw('auth_cookie_domain') !== undefined) {
    const reason =
      'sessions are of one host alone, because other hosts of a domain may belong to somebody else; leave it out';
    throw config.fault(invalidValue, 'auth_cookie_domain', reason);
  }
  const authId = config.text('auth_id') ?? '';
  if (authId !== '' && (!isToken(authId) || authId.length > 64))
    throw config.fault(invalidValue, 'auth_id', 'it may have 64 letters, digits, "-", "_" and "."');
  const provider = providerOf(config.texts('scopes', mostScopes) ?? []);
  const parameters = readParameters(config);
  const client = readClient(config);
  const settings = acceptSignIn(
    {
      options_passthrough: config.boolean('allow_cors_preflight') ?? false,
      maximum_duration: seconds(config, 'max_session_duration'),
      inactivity_timeout: seconds(config, 'idle_session_timeout') || seconds(config, 'idle_session_duration'),
      auth_check_interval: seconds(config, 'userinfo_refresh_interval'),
    },
    authId === '' ? '' : `${authId}.`,
  );
  // Sessions of visitors hold a hash of these in this order.
  const { name, issuer, scopes, groupsClaim, differs } = provider;
  const merged =
    parameters === undefined ? differs : { ...differs, parameters: { ...parameters, ...differs?.parameters } };
  const { reads } = config.context;
  const built = buildSignIn(
    { ...settings, ...acceptEmails({}) },
    { name, issuer, ...client, scopes, groupsClaim, differs: merged },
  );
  const signIn = {
    ...built,
    // Logins of two names have sessions of their own, also with one provider and client.
    key: authId === '' ? built.key : `${built.key} ${authId}`,
    // The rules that read it stand behind this action, and have not been read yet.
    keepsIdToken: () => reads.identityToken,
  };
  const step = signInStep(signIn);
  /** Throws where a secret of the client is gone: nobody is let in by a client that was taken away. */
  const readNow = ({ accountId, services }: RequestVisit): void => {
    client.clientFrom?.(accountId, services.secrets);
  };
  return {
    ends: false,
    run(visit) {
      const { request } = visit;
      readNow(request);
      const outcome = step.run(request);
      if (outcome !== undefined) return outcome;
      // A later login tells the upstream of somebody else.
      // A preflight passes without this login, whoever another one has let in.
      const isPreflight = signIn.optionsPassthrough && request.method === 'OPTIONS';
      const told = isPreflight ? [] : request.identity;
      visit.setResult(result, () => resultOf(request, signIn, told));
      return undefined;
    },
    holds({ request }) {
      readNow(request);
      return step.holds(request);
    },
    facts: { reads: step.reads, signIn },
    authId,
  };
}

/** What upstreams are told of the visitor. An e-mail address that the provider has not verified could be anybody's. */
function resultOf(request: RequestVisit, signIn: SignIn, told: RequestVisit['identity']): CelMap {
  const { services } = request;
  // Of a visitor who is only described, nobody knows more than that a login lets them in.
  if (told === undefined || told.length === 0) services.logins.holds(request, signIn);
  const valueOf = (name: string): string | undefined => {
    const [value] = headerValues(told ?? [], `gatehouse-user-${name}`);
    return value === undefined ? undefined : decodeURIComponent(value);
  };
  const [id, name] = [valueOf('id'), valueOf('name')];
  const email = valueOf('email-verified') === 'true' ? valueOf('email') : undefined;
  // A preflight passes without a login.
  const idToken = id === undefined ? undefined : services.logins.idToken(request, signIn);
  const [groups = ''] = headerValues(told ?? [], 'gatehouse-user-groups');
  return CelMap.of({
    is_signed_in: id !== undefined,
    ...(idToken !== undefined && { identity_token: idToken }),
    identity: CelMap.of({
      ...(id !== undefined && { provider_user_id: id }),
      ...(email !== undefined && { email }),
      ...(name !== undefined && { name }),
      groups: groups === '' ? [] : groups.split(',').map(decodeURIComponent),
    }),
  });
}

function seconds(config: ConfigReader, field: string): number {
  return Math.ceil((config.duration(field, 1000, longestMs) ?? 0) / 1000);
}

/** The client that this installation is to the provider, which may stand in vaults. */
function readClient(config: ConfigReader): Pick<SignInProvider, 'clientId' | 'clientSecret' | 'clientFrom'> {
  const [id, secret] = [clientText(config, 'client_id'), clientText(config, 'client_secret')];
  if (id.constant !== undefined && secret.constant !== undefined)
    return { clientId: id.constant, clientSecret: secret.constant };
  return {
    // What is written tells clients apart, and a new value of a secret concerns nobody who has signed in.
    clientId: config.text('client_id') ?? '',
    clientSecret: '',
    clientFrom(accountId, secrets) {
      const visit = visitOfSecrets(accountId, secrets);
      const [clientId, clientSecret] = [id.text(visit), secret.text(visit)];
      for (const text of [clientId, clientSecret])
        if (text === '' || text.length > longestText)
          throw new EvaluationFault(`client_id and client_secret must have 1 to ${longestText} characters`);
      return { clientId, clientSecret };
    },
  };
}

function clientText(config: ConfigReader, field: string): Template {
  const template = config.required(field, config.secretTemplate(field));
  if (template.constant !== undefined) written(config, field);
  return template;
}

function written(config: ConfigReader, field: string): string {
  const text = config.required(field, config.text(field));
  const reason = text.includes('${')
    ? 'expressions are not offered here, because the provider is asked before there is a visit; write it out'
    : text === '' || text.length > longestText
      ? `it must have 1 to ${longestText} characters`
      : undefined;
  if (reason !== undefined) throw config.fault(invalidValue, field, reason);
  return text;
}

function readParameters(config: ConfigReader): Readonly<Record<string, string>> | undefined {
  const given = config.templateMap('authz_url_params', mostParameters);
  if (given === undefined) return undefined;
  return Object.fromEntries(
    Array.from(given, ([name, { constant }]) => {
      const reason = ownParameters.has(name.toLowerCase())
        ? 'the gateway sets it itself'
        : constant === undefined
          ? 'expressions are not offered here; write it out'
          : undefined;
      if (reason !== undefined) throw config.fault(invalidValue, `authz_url_params.${name}`, reason);
      return [name, constant ?? ''];
    }),
  );
}

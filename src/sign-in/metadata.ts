import type { Fetch } from './guarded-fetch.ts';

/** Fields of the metadata that a login uses. */
const textFields = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'end_session_endpoint',
];
const listFields = [
  'token_endpoint_auth_methods_supported',
  'id_token_signing_alg_values_supported',
  'userinfo_signing_alg_values_supported',
];
const flag = 'authorization_response_iss_parameter_supported';
const longestText = 2_048;
/** Values of a list, and characters of each: there are fewer than twenty algorithms. */
const mostValues = 32;
const longestValue = 64;

/** Answers with metadata come with the fields that are used, and `onRead` is told their size in bytes; others come as they are. */
export function withUsedMetadata(fetch: Fetch, onRead: (bytes: number) => void): Fetch {
  return async (url, options) => {
    const answer = await fetch(url, options);
    if (!new URL(url).pathname.endsWith('/.well-known/openid-configuration') || answer.status !== 200) return answer;
    const text = JSON.stringify(usedFields(await answer.json()));
    onRead(text.length);
    return new Response(text, { headers: { 'content-type': 'application/json' } });
  };
}

function usedFields(found: unknown): unknown {
  if (typeof found !== 'object' || found === null) return found;
  // Each field is checked below.
  const given = found as Readonly<Record<string, unknown>>;
  const used = [
    ...textFields.filter((name) => isText(given[name], longestText)),
    ...listFields.filter((name) => isList(given[name])),
    ...(typeof given[flag] === 'boolean' ? [flag] : []),
  ];
  return Object.fromEntries(used.map((name) => [name, given[name]]));
}

function isText(value: unknown, longest: number): boolean {
  return typeof value === 'string' && value.length <= longest;
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= mostValues && value.every((each) => isText(each, longestValue));
}

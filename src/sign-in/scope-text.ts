import type { Fetch } from './guarded-fetch.ts';

/** Answers of a token endpoint as the standard has them: some providers give scopes as a list. */
export function withScopeText(fetch: Fetch): Fetch {
  return async (url, options) => {
    const answer = await fetch(url, options);
    if (options.method !== 'POST' || !answer.ok) return answer;
    const { status, headers } = answer;
    return new Response(joinScopes(await answer.text()), { status, headers });
  };
}

/** The JSON object of a text with its scopes as one text; any other text as it is. */
export function joinScopes(text: string): string {
  const answer = readObject(text);
  const { scope } = answer;
  if (!Array.isArray(scope)) return text;
  return JSON.stringify({ ...answer, scope: scope.filter((each) => typeof each === 'string').join(' ') });
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null ? (read as Readonly<Record<string, unknown>>) : {};
  } catch {
    // Whoever reads the answer says what is wrong with it.
    return {};
  }
}

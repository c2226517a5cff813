const storageKey = 'gatehouse.session';

/**
 * Headers of every call: the session's cookie counts only with the secret in the first. The browser gives the secret to
 * pages of this origin alone, to every tab and after a reload.
 */
export function callHeaders(): Readonly<Record<string, string>> {
  return { 'gatehouse-dashboard': localStorage.getItem(storageKey) ?? '1', 'service-version': '2' };
}

/** Keeps the secret that a sign-in has given to the page, or forgets it. */
export function keepSecret(secret: string | undefined): void {
  if (secret === undefined) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, secret);
}

const sent = new Map<string, Promise<Response>>();

/** Sends a GET whose answer the first view needs, while the code that shows it is still being loaded. */
export function sendEarly(path: string): void {
  const answer = fetch(path, { headers: callHeaders(), redirect: 'error' });
  // Whoever takes the answer is told of the failure.
  answer.catch(() => undefined);
  sent.set(path, answer);
}

/** The answer to a call that was sent early; once only, because it is older with every moment. */
export function takeEarly(path: string): Promise<Response> | undefined {
  const answer = sent.get(path);
  sent.delete(path);
  return answer;
}

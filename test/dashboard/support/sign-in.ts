import type { Disposable, Page } from 'playwright-core';

/** Signs the browser of a page in without the form, which would load everything twice. The result ends its script. */
export async function signInWithoutForm(page: Page, origin: string, token: string): Promise<Disposable> {
  const headers = { 'gatehouse-dashboard': '1', 'service-version': '2', origin };
  const answer = await page.context().request.post('/dashboard/session', { headers, data: { token } });
  if (answer.status() !== 201) throw new Error(`the sign-in answered ${answer.status()}: ${await answer.text()}`);
  const { secret } = await answer.json();
  // Once: the page may sign in anew. It runs in pages of other origins too, which get nothing.
  return page.addInitScript(`if (location.origin === ${JSON.stringify(origin)} && sessionStorage.signedIn === undefined) {
    sessionStorage.signedIn = 'yes';
    localStorage.setItem('gatehouse.session', ${JSON.stringify(secret)});
  }`);
}

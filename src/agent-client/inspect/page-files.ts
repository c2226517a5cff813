/** Style and script of the local page; it works without the script, which keeps the list fresh and adds keys. */

export const style = `
:root { color-scheme: light dark; --text: #1b1e23; --soft: #575d66; --line: #d5d8dd; --back: #fff; --raised: #f4f5f6; --accent: #2456c8; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --soft: #a6adb7; --line: #3a3f47; --back: #16181c; --raised: #202329; --accent: #8ab0ff; --bad: #ff9a92; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1200px; margin: 0 auto; padding: 20px 16px 60px; }
header { display: flex; gap: 16px; justify-content: space-between; align-items: flex-start; }
h1 { font-size: 20px; margin: 8px 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 28px 0 8px; border-bottom: 1px solid var(--line); padding-bottom: 6px; }
h3 { font-size: 14px; margin: 16px 0 6px; }
p { margin: 4px 0; }
a { color: var(--accent); }
.soft { color: var(--soft); }
.bad { color: var(--bad); font-weight: 600; }
.mono, code { font: 13px/1.5 ui-monospace, monospace; }
.bar { display: flex; flex-wrap: wrap; gap: 10px; align-items: center; margin: 14px 0; }
table { width: 100%; border-collapse: collapse; margin: 12px 0; }
th, td { text-align: left; padding: 7px 8px; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
.n { text-align: right; white-space: nowrap; }
.path { overflow-wrap: anywhere; width: 99%; }
td a { text-decoration: none; color: var(--text); }
td a:hover, td a:focus { text-decoration: underline; }
.badge { border: 1px solid var(--line); border-radius: 4px; padding: 0 6px; font-size: 12px; white-space: nowrap; }
dl { display: grid; grid-template-columns: minmax(90px, max-content) 1fr; margin: 0; border: 1px solid var(--line); border-radius: 6px; }
dl:empty { display: none; }
dt, dd { margin: 0; padding: 5px 10px; overflow-wrap: anywhere; border-top: 1px solid var(--line); }
dt { color: var(--soft); max-width: 40vw; }
pre { background: var(--raised); padding: 12px; border-radius: 6px; overflow: auto; max-height: 480px; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
button, .button { font: inherit; padding: 5px 12px; border: 1px solid var(--soft); border-radius: 6px; background: var(--back); color: var(--text); text-decoration: none; cursor: pointer; }
.primary { background: var(--text); color: var(--back); border-color: var(--text); }
input, textarea { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--soft); border-radius: 6px; padding: 5px 8px; width: 100%; }
.bar label { flex: 1; max-width: 480px; }
.edit { display: grid; gap: 12px; margin: 16px 0; padding: 16px; border: 1px solid var(--line); border-radius: 8px; }
@media (max-width: 600px) { th:first-child, td:first-child, th:last-child, td:last-child { display: none; } dl { grid-template-columns: 1fr; } dd { border-top: 0; padding-top: 0; } dt { max-width: none; } }
`;

export const script = `'use strict';
const live = document.getElementById('live');
const pause = document.getElementById('pause');
let isPaused = false;
function toggle() {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  pause.textContent = isPaused ? 'Go on' : 'Pause';
}
async function refresh() {
  if (!isPaused && document.visibilityState === 'visible') {
    try {
      const answer = await fetch(location.href, { redirect: 'error' });
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const next = fresh.getElementById('live');
      const at = live.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
      if (!isPaused && next && next.innerHTML !== live.innerHTML) {
        live.replaceChildren(...document.importNode(next, true).childNodes);
        if (at !== null) for (const link of live.querySelectorAll('a')) if (link.getAttribute('href') === at) link.focus();
      }
    } catch {
      // The agent has ended, or is about to answer again.
    }
  }
  setTimeout(refresh, 1000);
}
if (live && pause) {
  pause.hidden = false;
  pause.addEventListener('click', toggle);
  setTimeout(refresh, 1000);
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, button, a, select')) return;
  const wanted = event.key === ' ' ? pause : event.key === 'r' ? document.getElementById('replay') : event.key === 'R' ? document.getElementById('edit') : null;
  if (!wanted) return;
  event.preventDefault();
  wanted.click();
});
`;

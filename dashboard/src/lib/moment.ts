const name = 'at';

/** The moment that the part of a URL after its path names: a time in RFC 3339 form or a version; undefined for now. */
export function momentIn(search: string): string | undefined {
  const at = new URLSearchParams(search).get(name) ?? '';
  return at === '' ? undefined : at;
}

/** The address of a link, which stays in the moment that is shown. One with an empty `at` leads back to now. */
export function withMoment(href: string, search: string): string {
  const at = momentIn(search);
  const [path = '', query = ''] = href.split('?', 2);
  const params = new URLSearchParams(query);
  const own = params.get(name);
  if (own === '') params.delete(name);
  else if (own === null && at !== undefined) params.set(name, at);
  else return href;
  const text = params.toString();
  return text === '' ? path : `${path}?${text}`;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const inWords = /^(\d{1,2}) ([A-Za-z]{3})[a-z]{0,6} (\d{4}),? (\d\d):(\d\d)(?::(\d\d))?(?: ?(?:UTC|Z))?$/;
const inDigits = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)(?::(\d\d))?(?: ?(?:UTC|Z))?$/;

/** Reads what somebody has typed: a version, "16 Nov 2026, 13:58:00", "2026-11-16 13:58" or RFC 3339; undefined for anything else. */
export function momentOf(text: string): string | undefined {
  const typed = text.trim();
  if (/^[\d,]{1,19}$/.test(typed)) return typed.replaceAll(',', '');
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/i.test(typed)) return typed;
  const words = inWords.exec(typed);
  if (words !== null) {
    const [, day = '', month = '', year = '', ...clock] = words;
    return timeOf(year, String(months.indexOf(month.toLowerCase()) + 1), day, clock);
  }
  const [, year = '', month = '', day = '', ...clock] = inDigits.exec(typed) ?? [];
  return timeOf(year, month, day, clock);
}

/** Undefined for a day that no calendar has. */
function timeOf(year: string, month: string, day: string, clock: readonly (string | undefined)[]): string | undefined {
  const [hours = '', minutes = '', seconds = '00'] = clock;
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${hours}:${minutes}:${seconds}Z`;
  const ms = Date.parse(text);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== text.slice(0, 19) ? undefined : text;
}

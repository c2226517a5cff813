const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayHeads = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long' });
const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const exactly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** Such as "14 Nov 2026". */
export function formatDate(time: string | number): string {
  return dates.format(new Date(time));
}

/** Such as "14 Nov". */
export function formatDay(time: string | number): string {
  return days.format(new Date(time));
}

/** Such as "10:42". */
export function formatClock(time: string | number): string {
  return clock.format(new Date(time));
}

/** Such as "10:42:07". */
export function formatSeconds(time: string | number): string {
  return seconds.format(new Date(time));
}

/** Such as "10:42:07"; with its day where that is another one. */
export function formatMoment(time: string | number, now = Date.now()): string {
  const then = new Date(time);
  return sameDay(then, new Date(now)) ? seconds.format(then) : `${days.format(then)}, ${seconds.format(then)}`;
}

/** Such as "15 Nov 2026, 10:12:40 UTC". */
export function formatExactly(time: string): string {
  return `${exactly.format(new Date(time))} UTC`;
}

/** Such as "Today, 15 November"; the year where it is another one. */
export function formatDayHead(time: string, now = Date.now()): string {
  const then = new Date(time);
  const words = dayHeads.format(then);
  if (sameDay(then, new Date(now))) return `Today, ${words}`;
  if (sameDay(then, new Date(now - day))) return `Yesterday, ${words}`;
  return then.getFullYear() === new Date(now).getFullYear() ? words : `${words} ${then.getFullYear()}`;
}

function sameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}

/** Relative below seven days, a date beyond: "2 min ago", "in 6 days", "14 Nov 2026". */
export function formatTime(time: string | number, now = Date.now()): string {
  const distance = new Date(time).getTime() - now;
  const size = Math.abs(distance);
  if (size < 45_000) return distance > 0 ? 'in a moment' : 'just now';
  if (size >= 7 * day) return formatDate(time);
  const [count, unit] =
    size < hour
      ? [Math.round(size / minute), 'min']
      : size < day
        ? [Math.round(size / hour), 'h']
        : [Math.round(size / day), size < 1.5 * day ? 'day' : 'days'];
  return distance > 0 ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

/** Whole days until then, rounded down; negative for the past. */
export function daysUntil(time: string, now = Date.now()): number {
  return Math.floor((new Date(time).getTime() - now) / day);
}

/** Such as "today", "tomorrow" or "in 5 days", for a time that is not over. */
export function formatEnd(time: string, now = Date.now()): string {
  const [end, today] = [new Date(time), new Date(now)];
  if (sameDay(end, today)) return 'today';
  if (sameDay(end, new Date(now + day))) return 'tomorrow';
  return `in ${Math.round((end.getTime() - now) / day)} days`;
}

/** Certificates that end within this many days need a person. */
export const certificateDays = 14;

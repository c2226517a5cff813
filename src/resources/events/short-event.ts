/** Characters of an event that is not long: with three bytes for each it still fits in a datagram of syslog. */
const shortLength = 600;

/** The body, or what is sent in its place where that must be short. */
export function shortEvent(body: string, instead: object): string {
  return body.length <= shortLength ? body : JSON.stringify(instead);
}

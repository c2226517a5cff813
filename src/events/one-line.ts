/** Characters that end a line, hide text, or turn its direction around. */
// oxlint-disable-next-line no-control-regex -- these are what must not stay
const unprintable = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A text of strangers as a part of a line that others read. */
export function oneLine(text: string): string {
  return text.replaceAll(unprintable, ' ').toWellFormed();
}

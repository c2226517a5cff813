import { formatTime } from '../lib/time.ts';

/** A time as people say it; the whole of it on hover. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at} className="nowrap">
      {formatTime(at)}
    </time>
  );
}

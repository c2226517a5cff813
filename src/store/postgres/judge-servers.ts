import { isSameServer } from './server-report.ts';
import type { ServerReport } from './server-report.ts';

/** The last report of a server. */
export interface Heard {
  readonly report: ServerReport;
  /** The server has not answered since. */
  readonly isSilent: boolean;
}

/** The server that is the database, or the reason why none is; `isSilence` where the one that was does not answer. */
export type Verdict =
  | { readonly url: string; readonly report: ServerReport }
  | { readonly reason: string; readonly isSilence: boolean };

/**
 * Finds the server that is the database among those that were heard. A promotion raises the timeline: of two servers that
 * take writes, the one on the lower timeline is an old primary that nobody has stopped. No server counts that another one
 * is ahead of, be that a standby, or silent by now: better none than one whose keys and rules are out of date.
 */
export function judgeServers(heard: ReadonlyMap<string, Heard>, systemBefore: string | undefined): Verdict {
  const all = [...heard].map(([url, each]) => ({ url, ...each }));
  const system = systemBefore ?? all.find(isWritable)?.report.system;
  const isForeign = ({ report }: Heard) => report.system !== system;
  const foreign = all.find((each) => isWritable(each) && isForeign(each));
  const ours = all.filter((each) => !isForeign(each));
  const writable = ours.filter(isWritable);
  if (foreign !== undefined && (systemBefore === undefined || writable.length === 0)) {
    return systemBefore === undefined
      ? contradiction('its hosts are servers of several database systems')
      : contradiction('it is another database system than before. If that is meant, restart the process');
  }
  const newest = Math.max(0, ...ours.map(({ report }) => report.timeline));
  const [first] = writable;
  if (first === undefined) {
    const isSilence = ours.some(({ report, isSilent }) => isSilent && report.takesWrites);
    return { reason: 'no server of it takes writes', isSilence };
  }
  const [chosen, ...rivals] = writable.filter(({ report }) => report.timeline === newest);
  if (chosen === undefined) {
    const { timeline } = first.report;
    return contradiction(`it takes writes on timeline ${timeline}, where ${newest} was seen: it is an old primary`);
  }
  if (rivals.some(({ report }) => !isSameServer(report, chosen.report))) {
    return contradiction(`two servers of it take writes on timeline ${newest}, and nothing tells which is the primary`);
  }
  return { url: chosen.url, report: chosen.report };
}

function isWritable({ report, isSilent }: Heard): boolean {
  return report.takesWrites && !isSilent;
}

function contradiction(reason: string): Verdict {
  return { reason, isSilence: false };
}

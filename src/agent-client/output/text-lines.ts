import type { RequestReport } from '../watch/http-watch.ts';
import type { AgentState } from '../reporter.ts';
import type { ConnectionReport } from '../visitor.ts';

/** Sentences about what an agent does, the same in every form of output. */

export function describeState(state: AgentState): string {
  switch (state.kind) {
    case 'connecting':
      return `connecting to ${state.server}`;
    case 'online':
      return `online ${state.address} -> ${state.target}`;
    case 'offline':
      return `offline: ${state.reason}; trying again ${state.retryMs < 50 ? 'at once' : `in ${formatMs(state.retryMs)}`}`;
    default:
      if (state.visitors === 0) return 'stopping';
      return `stopping: ${state.visitors} ${state.visitors === 1 ? 'connection has' : 'connections have'} a few seconds to end`;
  }
}

export function describeRequest({ method, path, status, ms, isWhole }: RequestReport): string {
  return `${method} ${path} ${status ?? '-'} ${formatMs(ms)}${isWhole ? '' : ' (cut off)'}`;
}

export function describeConnection({ visitor, bytesIn, bytesOut, ms }: ConnectionReport): string {
  return `connection of ${visitor}: ${formatBytes(bytesIn)} in, ${formatBytes(bytesOut)} out, ${formatMs(ms)}`;
}

export function formatMs(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Makes text of others harmless on a terminal and in a log: one line, without control characters. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

import { readUserAgent } from '../../lib/user-agent.ts';

const longestName = 60;
const longestVersion = 20;

/** Names a browser and its system by the header User-Agent; empty where it does not say. */
export function readBrowserName(header: string) {
  const read = readUserAgent(header);
  return {
    browser_name: read.name.slice(0, longestName),
    browser_version: /^\d[\d.]*/.exec(read.version.slice(0, longestVersion))?.[0] ?? '',
    device_type: (['tablet', 'mobile', 'desktop'] as const).find((kind) => read[`is_${kind}`]) ?? '',
    os_name: read.device === 'iPad' ? 'iPadOS' : read.os,
    // Windows has said 10 since then, whatever it is.
    os_version: read.os === 'Windows' ? '' : read.os_version.slice(0, longestVersion),
  };
}

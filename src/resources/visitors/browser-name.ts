/** A browser and its system, by the header User-Agent; empty where it does not say. */
export interface BrowserName {
  readonly browser_name: string;
  readonly browser_version: string;
  readonly device_type: string;
  readonly os_name: string;
  readonly os_version: string;
}

/** Characters that are looked at: whoever writes more says nothing more. */
const longestRead = 512;
const longestVersion = 20;

/** Browsers by the word before their version, those that also give the words of another first. */
const browsers = [
  ['Edg/', 'Edge'],
  ['EdgA/', 'Edge'],
  ['EdgiOS/', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Vivaldi/', 'Vivaldi'],
  ['FxiOS/', 'Firefox'],
  ['Firefox/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Version/', 'Safari'],
  ['curl/', 'curl'],
  ['Wget/', 'Wget'],
] as const;

/** Systems by the word before their version; phones and tablets first, which name those that they descend from. */
const systems = [
  ['iPhone OS ', 'iOS', 'mobile'],
  ['iPad; CPU OS ', 'iPadOS', 'tablet'],
  ['Android ', 'Android', 'mobile'],
  ['Windows NT ', 'Windows', 'desktop'],
  ['Mac OS X ', 'macOS', 'desktop'],
  ['CrOS ', 'ChromeOS', 'desktop'],
  ['Linux', 'Linux', 'desktop'],
] as const;

/** Reads the start of a header by plain searches, whose work its length bounds. */
export function readBrowserName(userAgent: string): BrowserName {
  const text = userAgent.slice(0, longestRead);
  const [browserMark, browser = ''] = browsers.find(([mark]) => text.includes(mark)) ?? [];
  const [systemMark, system = '', device = ''] = systems.find(([mark]) => text.includes(mark)) ?? [];
  const isTablet = system === 'Android' && !text.includes('Mobile');
  return {
    browser_name: browser,
    browser_version: versionAfter(text, browserMark),
    device_type: isTablet ? 'tablet' : device,
    os_name: system,
    // Windows has said 10 since then, whatever it is.
    os_version: system === 'Windows' ? '' : versionAfter(text, systemMark),
  };
}

/** Digits with points behind the mark; some systems write "_" between them. */
function versionAfter(text: string, mark: string | undefined): string {
  if (mark === undefined) return '';
  const from = text.indexOf(mark) + mark.length;
  const [version = ''] = /^\d[\d._]*/.exec(text.slice(from, from + longestVersion)) ?? [];
  return version.replaceAll('_', '.');
}

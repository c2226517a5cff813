/** What a User-Agent says of its program and device; empty where it says nothing. */
export interface UserAgent {
  readonly name: string;
  readonly version: string;
  readonly os: string;
  readonly os_version: string;
  readonly device: string;
  readonly url: string;
  readonly is_mobile: boolean;
  readonly is_tablet: boolean;
  readonly is_desktop: boolean;
  readonly is_bot: boolean;
}

/** Longer ones say no more. */
const longestRead = 1024;

/** Browsers by their product tokens. Those that also name the browser they are made of come first. */
const browsers: readonly (readonly [token: string, name: string])[] = [
  ['Edg', 'Edge'],
  ['EdgA', 'Edge'],
  ['EdgiOS', 'Edge'],
  ['Edge', 'Edge'],
  ['OPR', 'Opera'],
  ['OPiOS', 'Opera'],
  ['Opera', 'Opera'],
  ['SamsungBrowser', 'Samsung Browser'],
  ['Vivaldi', 'Vivaldi'],
  ['YaBrowser', 'Yandex Browser'],
  ['UCBrowser', 'UC Browser'],
  ['HeadlessChrome', 'Headless Chrome'],
  ['FxiOS', 'Firefox'],
  ['Firefox', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
];
const botWords =
  /bot\b|bot[/;]|crawler|spider|slurp|externalhit|mediapartners|(?:chatgpt|claude|perplexity|mistralai)-user/i;

/** Reads a User-Agent in time that is linear in its length. */
export function readUserAgent(header: string): UserAgent {
  const text = header.slice(0, longestRead);
  const words = text.split(/[\s();,]+/).filter((word) => word !== '');
  const products = new Map(words.flatMap((word) => productOf(word)));
  const isBot = botWords.test(text);
  const [name, version] = programOf(words, products, isBot);
  const [os, osVersion] = systemOf(text, words);
  const isTablet =
    !isBot && (words.includes('iPad') || words.includes('Tablet') || (os === 'Android' && !words.includes('Mobile')));
  const isMobile = !isTablet && (words.includes('Mobile') || words.includes('iPhone') || words.includes('iPod'));
  return {
    name,
    version,
    os,
    os_version: osVersion,
    device: deviceOf(text, words, os),
    url: words.find((word) => /^\+?https?:\/\//i.test(word))?.replace(/^\+/, '') ?? '',
    is_mobile: isMobile,
    is_tablet: isTablet,
    is_desktop: !isBot && !isMobile && !isTablet && ['Windows', 'macOS', 'Linux', 'ChromeOS'].includes(os),
    is_bot: isBot,
  };
}

function productOf(word: string): readonly (readonly [string, string])[] {
  const slash = word.indexOf('/');
  return slash < 1 || word.startsWith('+') || word.startsWith('http')
    ? []
    : [[word.slice(0, slash), word.slice(slash + 1)]];
}

function programOf(
  words: readonly string[],
  products: ReadonlyMap<string, string>,
  isBot: boolean,
): readonly [name: string, version: string] {
  if (isBot) {
    const word = words.find((each) => botWords.test(each) && !each.includes('://'));
    const [product] = productOf(word ?? '');
    if (product !== undefined) return product;
    if (word !== undefined) return [word, ''];
  }
  const found = browsers.find(([token]) => products.has(token));
  if (found !== undefined) return [found[1], products.get(found[0]) ?? ''];
  const explorer = words.indexOf('MSIE');
  if (explorer >= 0) return ['Internet Explorer', words[explorer + 1] ?? ''];
  if (products.has('Trident'))
    return ['Internet Explorer', words.find((word) => word.startsWith('rv:'))?.slice(3) ?? ''];
  const version = products.get('Version');
  if (products.has('Safari') && version !== undefined) return ['Safari', version];
  const own = Array.from(products).find(([name]) => name !== 'Mozilla');
  return own ?? [words[0] === undefined || words[0].startsWith('Mozilla/') ? '' : words[0], ''];
}

function systemOf(text: string, words: readonly string[]): readonly [name: string, version: string] {
  const after = (word: string) => (words[words.indexOf(word) + 1] ?? '').replaceAll('_', '.');
  const versionOf = (word: string) => (/^\d[\d.]*$/.test(after(word)) ? after(word) : '');
  if (['iPhone', 'iPad', 'iPod'].some((word) => words.includes(word))) return ['iOS', versionOf('OS')];
  if (words.includes('Android')) return ['Android', versionOf('Android')];
  if (words.includes('Windows')) return ['Windows', versionOf('NT')];
  if (text.includes('Mac OS X')) return ['macOS', versionOf('X')];
  if (words.includes('CrOS')) return ['ChromeOS', ''];
  return words.includes('Linux') ? ['Linux', ''] : ['', ''];
}

function deviceOf(text: string, words: readonly string[], os: string): string {
  const apple = ['iPhone', 'iPad', 'iPod'].find((word) => words.includes(word));
  if (apple !== undefined || os !== 'Android') return apple ?? '';
  const parts = text.slice(text.indexOf('Android')).split(')', 1)[0]?.split(';') ?? [];
  const model = parts.at(-1)?.split(' Build/', 1)[0]?.trim() ?? '';
  return parts.length < 2 || model.startsWith('rv:') ? '' : model;
}

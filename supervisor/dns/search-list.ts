/** Search domains of the system's resolver configuration, applied as c-ares applies them. */
import { readFileSync } from 'node:fs';

/** What resolv.conf allows. */
const NDOTS_MAX = 15;

export interface SearchList {
  readonly domains: readonly string[];
  /** Names with at least so many dots are tried as they are before the domains. */
  readonly ndots: number;
}

export const NO_SEARCH: SearchList = { domains: [], ndots: 1 };

/** An unreadable file has no domains. */
export function readSearchList(path: string): SearchList {
  try {
    return parseSearchList(readFileSync(path, 'latin1'));
  } catch {
    return NO_SEARCH;
  }
}

/** The last `search` or `domain` line counts. */
export function parseSearchList(text: string): SearchList {
  let domains: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search') domains = values;
    else if (keyword === 'domain') domains = values.slice(0, 1);
    else if (keyword === 'options') {
      const option = values.find((value) => /^ndots:\d+$/.test(value));
      if (option !== undefined) ndots = Math.min(NDOTS_MAX, Number(option.slice('ndots:'.length)));
    }
  }
  return { domains: domains.filter((domain) => domain !== '.'), ndots };
}

/** The names to ask for, in order, until one exists. A closing dot makes a name whole. */
export function candidatesOf(name: string, { domains, ndots }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const dots = name.split('.').length - 1;
  const searched = domains.map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  return dots >= ndots ? [name, ...searched] : [...searched, name];
}

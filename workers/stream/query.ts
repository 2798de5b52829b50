/** Reads query strings as they were sent, without decoding. */

/** The first value of a parameter, empty when it has none; undefined when it is missing. */
export function queryValue(query: string, name: string): string | undefined {
  let start = 0;
  while (start <= query.length) {
    const next = query.indexOf('&', start);
    const end = next < 0 ? query.length : next;
    if (query.startsWith(name, start)) {
      const after = start + name.length;
      if (after === end) return '';
      if (query[after] === '=' && after < end) return query.slice(after + 1, end);
    }
    start = end + 1;
  }
  return undefined;
}

/** What stands behind a path's question mark, up to a fragment; empty when there is none. */
export function queryOf(path: string): string {
  const mark = path.indexOf('?');
  if (mark < 0) return '';
  const end = path.indexOf('#', mark);
  return path.slice(mark + 1, end < 0 ? path.length : end);
}

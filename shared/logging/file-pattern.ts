/** Names of source files as `/logging?paths=` takes them for per-file loggers. */

/**
 * Whether `pattern` means the file at `path` (`supervisor/admin/admin-server.ts`). `*` stands for
 * any characters, `?` for one. A pattern with a slash is compared with the whole path, another with
 * the last part; the file's ending may be left out.
 */
export function matchesFile(pattern: string, path: string): boolean {
  const name = pattern.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1);
  return matchesGlob(pattern, name) || matchesGlob(pattern, name.replace(/\.[a-z]+$/, ''));
}

/**
 * `*` stands for any characters, `?` for one.
 *
 * On a mismatch only the last star takes one character more, so the time is at most quadratic.
 */
export function matchesGlob(pattern: string, name: string): boolean {
  let inPattern = 0;
  let inName = 0;
  let star = -1;
  let starName = 0;
  while (inName < name.length) {
    const wanted = pattern[inPattern];
    if (wanted === '*') {
      star = inPattern++;
      starName = inName;
    } else if (wanted === '?' || wanted === name[inName]) {
      inPattern++;
      inName++;
    } else if (star >= 0) {
      inPattern = star + 1;
      inName = ++starName;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

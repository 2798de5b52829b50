/**
 * One message's header block. Owns nothing but strings: no parsing, no validation, no policy.
 *
 * Shape: `entries` is one flat array `name, value, name, value, …` in arrival order. Names are lower
 * case and, when well known, the interned constants of header-names.ts, so that comparing them is a
 * pointer comparison. The pseudo headers of HTTP/2 are fields, whatever the codec: `host` of HTTP/1
 * is `authority`. An empty string means absent. A header that comes twice has two entries.
 */
export class HeaderMap {
  readonly entries: string[] = [];
  /** Requests only. */
  method = '';
  /** Path with query, as `:path`. */
  path = '';
  authority = '';
  scheme = '';
  /** `:protocol` of an extended CONNECT. */
  protocol = '';
  /** Responses only; 0 in requests. */
  status = 0;
  /** Names as they were written, one per entry; only kept where a codec must write them back. */
  originalNames: string[] | undefined = undefined;

  /** Number of entries, pseudo headers not counted. */
  get count(): number {
    return this.entries.length >> 1;
  }

  /** First value of `name` (lower case; pseudo headers and `host` too), undefined when absent. */
  get(name: string): string | undefined {
    const { entries } = this;
    for (let at = 0; at < entries.length; at += 2) {
      if (entries[at] === name) return entries[at + 1];
    }
    return name.charCodeAt(0) === COLON || name === 'host' ? this.pseudo(name) : undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** All values of `name` joined with `separator`, undefined when absent. */
  getAll(name: string, separator = ','): string | undefined {
    const { entries } = this;
    let joined: string | undefined;
    for (let at = 0; at < entries.length; at += 2) {
      if (entries[at] !== name) continue;
      const value = entries[at + 1] ?? '';
      joined = joined === undefined ? value : joined + separator + value;
    }
    return joined ?? this.get(name);
  }

  /** Replaces the first entry of `name` and drops any further one; adds it when absent. */
  set(name: string, value: string): void {
    if (name.charCodeAt(0) === COLON || name === 'host') return this.setPseudo(name, value);
    const { entries } = this;
    for (let at = 0; at < entries.length; at += 2) {
      if (entries[at] !== name) continue;
      entries[at + 1] = value;
      this.removeFrom(name, at + 2);
      return;
    }
    this.add(name, value);
  }

  /** Adds an entry behind the others, whether or not the name is there already. */
  add(name: string, value: string): void {
    if (name.charCodeAt(0) === COLON || name === 'host') return this.setPseudo(name, value);
    this.entries.push(name, value);
    this.originalNames?.push(name);
  }

  /** Appends to the first entry of `name` with `separator` between, or adds it. */
  append(name: string, value: string, separator = ','): void {
    const { entries } = this;
    for (let at = 0; at < entries.length; at += 2) {
      if (entries[at] !== name) continue;
      const old = entries[at + 1] ?? '';
      entries[at + 1] = old === '' ? value : old + separator + value;
      return;
    }
    this.add(name, value);
  }

  /** Removes every entry of `name`; true when there was one. Pseudo headers become absent. */
  remove(name: string): boolean {
    if (name.charCodeAt(0) === COLON || name === 'host') {
      const had = this.pseudo(name) !== undefined;
      this.setPseudo(name, '');
      return had;
    }
    return this.removeFrom(name, 0);
  }

  /** Calls `visit` per entry in order, pseudo headers not included. */
  forEach(visit: (name: string, value: string) => void): void {
    const { entries } = this;
    for (let at = 0; at < entries.length; at += 2) visit(entries[at] ?? '', entries[at + 1] ?? '');
  }

  /** Length in bytes of all names and values, pseudo headers included, as the reference counts it. */
  byteSize(): number {
    let size = 0;
    for (const part of this.entries) size += part.length;
    for (const name of PSEUDO_NAMES) {
      const value = this.pseudo(name);
      if (value !== undefined) size += name.length + value.length;
    }
    return size;
  }

  /** Number of entries and of pseudo headers. */
  get wholeCount(): number {
    return this.count + PSEUDO_NAMES.filter((name) => this.pseudo(name) !== undefined).length;
  }

  clone(): HeaderMap {
    const copy = new HeaderMap();
    for (const part of this.entries) copy.entries.push(part);
    copy.method = this.method;
    copy.path = this.path;
    copy.authority = this.authority;
    copy.scheme = this.scheme;
    copy.protocol = this.protocol;
    copy.status = this.status;
    copy.originalNames = this.originalNames === undefined ? undefined : [...this.originalNames];
    return copy;
  }

  private removeFrom(name: string, start: number): boolean {
    const { entries, originalNames } = this;
    let kept = start;
    for (let at = start; at < entries.length; at += 2) {
      const entryName = entries[at] ?? '';
      if (entryName === name) continue;
      if (kept !== at) {
        entries[kept] = entryName;
        entries[kept + 1] = entries[at + 1] ?? '';
        if (originalNames !== undefined) originalNames[kept >> 1] = originalNames[at >> 1] ?? '';
      }
      kept += 2;
    }
    if (kept >= entries.length) return false;
    entries.length = kept;
    if (originalNames !== undefined) originalNames.length = kept >> 1;
    return true;
  }

  private pseudo(name: string): string | undefined {
    let value = '';
    if (name === ':path') value = this.path;
    else if (name === ':method') value = this.method;
    else if (name === ':authority' || name === 'host') value = this.authority;
    else if (name === ':scheme') value = this.scheme;
    else if (name === ':protocol') value = this.protocol;
    else if (name === ':status' && this.status !== 0) value = String(this.status);
    return value === '' ? undefined : value;
  }

  private setPseudo(name: string, value: string): void {
    if (name === ':path') this.path = value;
    else if (name === ':method') this.method = value;
    else if (name === ':authority' || name === 'host') this.authority = value;
    else if (name === ':scheme') this.scheme = value;
    else if (name === ':protocol') this.protocol = value;
    else if (name === ':status') this.status = value === '' ? 0 : Number(value);
  }
}

const COLON = 0x3a;
const PSEUDO_NAMES = [':method', ':path', ':authority', ':scheme', ':protocol', ':status'] as const;

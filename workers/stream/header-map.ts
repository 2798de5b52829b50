import { headerName } from './header-names.ts';
import { isFitField, isFitValue } from './permitted.ts';
import { DEFAULT_ORDER } from './pseudo-order.ts';

/**
 * One message's header block. Owns nothing but strings: no parsing and no policy. It only notes
 * whether a field was put into it that must not leave as it is, for the door in message-door.ts.
 *
 * Shape: `entries` is one flat array `name, value, name, value, …` in arrival order. Names are
 * lower case and, when well known, the interned constants of header-names.ts, so that comparing
 * them is a pointer comparison. The pseudo headers of HTTP/2 are fields, whatever the codec: `host`
 * of HTTP/1 is `authority`. An empty string means absent. A header that comes twice has two
 * entries.
 */
export class HeaderMap {
  readonly #fields: string[] = [];
  /** Read only, so that nothing gets in past the methods below. */
  readonly entries: readonly string[] = this.#fields;
  /** Something was put in since it was parsed that must not leave. */
  isSuspect = false;
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
  /** The order of the pseudo headers of a request, as pseudo-order.ts has it. */
  pseudoOrder = DEFAULT_ORDER;
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
    return name.charCodeAt(0) === COLON || name === 'host' ? this.#pseudo(name) : undefined;
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
    if (name.charCodeAt(0) === COLON || name === 'host') return this.#setPseudo(name, value);
    const fields = this.#fields;
    for (let at = 0; at < fields.length; at += 2) {
      if (fields[at] !== name) continue;
      fields[at + 1] = value;
      if (!isFitField(name, value)) this.isSuspect = true;
      this.#removeFrom(name, at + 2);
      return;
    }
    const known = headerName(name)?.name;
    if (known !== undefined && known !== name) this.set(known, value);
    else this.add(name, value);
  }

  /**
   * Adds an entry behind the others, whether or not the name is there already. Whoever gives the
   * name in another case means the same header.
   */
  add(name: string, value: string): void {
    if (name.charCodeAt(0) === COLON || name === 'host') return this.#setPseudo(name, value);
    const known = headerName(name)?.name;
    if (known !== undefined && known !== name) return this.add(known, value);
    const isFit = known !== undefined && isFitValue(known, value);
    if (!isFit || (name === CONTENT_LENGTH && this.has(name))) this.isSuspect = true;
    this.#fields.push(name, value);
    this.originalNames?.push(name);
  }

  /**
   * Adds what a parser has found to be a token and a field value; `written`: the name as it came.
   */
  addParsed(name: string, value: string, written: string): void {
    this.#fields.push(name, value);
    this.originalNames?.push(written);
  }

  /** Adds entries that came through a parser before. */
  takeParsed(fields: readonly string[]): void {
    for (const part of fields) this.#fields.push(part);
  }

  /** Appends to the first entry of `name` with `separator` between, or adds it. */
  append(name: string, value: string, separator = ','): void {
    const fields = this.#fields;
    for (let at = 0; at < fields.length; at += 2) {
      if (fields[at] !== name) continue;
      const old = fields[at + 1] ?? '';
      const joined = old === '' ? value : old + separator + value;
      fields[at + 1] = joined;
      if (!isFitField(name, joined)) this.isSuspect = true;
      return;
    }
    const known = headerName(name)?.name;
    if (known !== undefined && known !== name) this.append(known, value, separator);
    else this.add(name, value);
  }

  /** Removes every entry of `name`; true when there was one. Pseudo headers become absent. */
  remove(name: string): boolean {
    if (name.charCodeAt(0) === COLON || name === 'host') {
      const had = this.#pseudo(name) !== undefined;
      this.#setPseudo(name, '');
      return had;
    }
    return this.#removeFrom(name, 0);
  }

  /** Calls `visit` per entry in order, pseudo headers not included. */
  forEach(visit: (name: string, value: string) => void): void {
    const { entries } = this;
    for (let at = 0; at < entries.length; at += 2) visit(entries[at] ?? '', entries[at + 1] ?? '');
  }

  /** Length in bytes of all names and values, pseudo headers included, as Envoy counts it. */
  byteSize(): number {
    let size = 0;
    for (const part of this.entries) size += part.length;
    for (const name of PSEUDO_NAMES) {
      const value = this.#pseudo(name);
      if (value !== undefined) size += name.length + value.length;
    }
    return size;
  }

  /** Number of entries and of pseudo headers. */
  get wholeCount(): number {
    return this.count + PSEUDO_NAMES.filter((name) => this.#pseudo(name) !== undefined).length;
  }

  clone(): HeaderMap {
    const copy = new HeaderMap();
    copy.takeFields(this);
    copy.method = this.method;
    copy.path = this.path;
    copy.authority = this.authority;
    copy.scheme = this.scheme;
    copy.protocol = this.protocol;
    copy.status = this.status;
    copy.pseudoOrder = this.pseudoOrder;
    return copy;
  }

  /** Has from now on the fields of `other`, and no others. */
  takeFields(other: HeaderMap): void {
    const fields = this.#fields;
    fields.length = 0;
    for (const part of other.#fields) fields.push(part);
    this.originalNames = other.originalNames === undefined ? undefined : [...other.originalNames];
    this.isSuspect = other.isSuspect;
  }

  /** Removes every field that must not leave, and gives their number. */
  dropUnfit(): number {
    const { originalNames } = this;
    const fields = this.#fields;
    let kept = 0;
    let sawLength = false;
    for (let at = 0; at < fields.length; at += 2) {
      const name = fields[at] ?? '';
      const value = fields[at + 1] ?? '';
      const isSecondLength = sawLength && name === CONTENT_LENGTH;
      if (isSecondLength || !isFitField(name, value)) continue;
      if (name === CONTENT_LENGTH) sawLength = true;
      fields[kept] = name;
      fields[kept + 1] = value;
      if (originalNames !== undefined) originalNames[kept >> 1] = originalNames[at >> 1] ?? name;
      kept += 2;
    }
    const dropped = (fields.length - kept) >> 1;
    fields.length = kept;
    if (originalNames !== undefined) originalNames.length = kept >> 1;
    this.isSuspect = false;
    return dropped;
  }

  #removeFrom(name: string, start: number): boolean {
    const { originalNames } = this;
    const fields = this.#fields;
    let kept = start;
    for (let at = start; at < fields.length; at += 2) {
      const fieldName = fields[at] ?? '';
      if (fieldName === name) continue;
      if (kept !== at) {
        fields[kept] = fieldName;
        fields[kept + 1] = fields[at + 1] ?? '';
        if (originalNames !== undefined) originalNames[kept >> 1] = originalNames[at >> 1] ?? '';
      }
      kept += 2;
    }
    if (kept >= fields.length) return false;
    fields.length = kept;
    if (originalNames !== undefined) originalNames.length = kept >> 1;
    return true;
  }

  #pseudo(name: string): string | undefined {
    let value = '';
    if (name === ':path') value = this.path;
    else if (name === ':method') value = this.method;
    else if (name === ':authority' || name === 'host') value = this.authority;
    else if (name === ':scheme') value = this.scheme;
    else if (name === ':protocol') value = this.protocol;
    else if (name === ':status' && this.status !== 0) value = String(this.status);
    return value === '' ? undefined : value;
  }

  #setPseudo(name: string, value: string): void {
    if (name === ':path') this.path = value;
    else if (name === ':method') this.method = value;
    else if (name === ':authority' || name === 'host') this.authority = value;
    else if (name === ':scheme') this.scheme = value;
    else if (name === ':protocol') this.protocol = value;
    else if (name === ':status') this.status = value === '' ? 0 : Number(value);
  }
}

const COLON = 0x3a;
const CONTENT_LENGTH = 'content-length';
const PSEUDO_NAMES = [':method', ':path', ':authority', ':scheme', ':protocol', ':status'] as const;

/** The header maps of a stream as modules see them. */
import type {
  HeaderFields,
  Headers,
  RequestHeaders,
  ResponseHeaders,
} from '../../../../shared/scripts/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { fieldName, ReadHeaders } from '../../../stream/read-headers.ts';
import { isFitField } from '../../../stream/permitted.ts';

/** A module may not make a message grow beyond so many fields. */
const FIELDS_MAX = 1_000;

export class ScriptHeaders extends ReadHeaders implements Headers {
  set(name: string, value: string): void {
    this.#change(fieldName(name), value, true);
  }

  add(name: string, value: string): void {
    this.#change(fieldName(name), value, false);
  }

  delete(name: string): boolean {
    return this.map.remove(fieldName(name));
  }

  /** What must not leave is an error of the module, at the line that wrote it. */
  #change(name: string, value: string, replaces: boolean): void {
    const { map } = this;
    if (typeof value !== 'string') throw new TypeError(`the value of ${name} is no string`);
    if (map.count >= FIELDS_MAX) throw new RangeError('too many headers');
    const wasSuspect = map.isSuspect;
    if (replaces) map.set(name, value);
    else map.add(name, value);
    if (wasSuspect || !map.isSuspect) return;
    map.remove(name);
    map.isSuspect = false;
    throw new TypeError(`${JSON.stringify(name)} cannot be a header with this value`);
  }
}

export class ScriptRequestHeaders extends ScriptHeaders implements RequestHeaders {
  get method(): string {
    return this.map.method;
  }

  set method(value: string) {
    this.map.method = value;
  }

  get path(): string {
    return this.map.path;
  }

  set path(value: string) {
    this.map.path = value;
  }

  get authority(): string {
    return this.map.authority;
  }

  set authority(value: string) {
    this.map.authority = value;
  }

  get scheme(): string {
    return this.map.scheme;
  }
}

export class ScriptResponseHeaders extends ScriptHeaders implements ResponseHeaders {
  get status(): number {
    return this.map.status;
  }

  set status(value: number) {
    if (!Number.isInteger(value) || value < 200 || value > 599) {
      throw new RangeError(`${value} is no status of a response`);
    }
    this.map.status = value;
  }
}

/** Into a message of the module's own; what describes the body is left out. */
export function addFields(map: HeaderMap, fields: HeaderFields | undefined): void {
  if (fields === undefined) return;
  for (const [written, values] of Object.entries(fields)) {
    const name = fieldName(written);
    if (name.startsWith(':') || name === 'content-length' || name === 'transfer-encoding') continue;
    map.remove(name);
    for (const value of typeof values === 'string' ? [values] : values) {
      if (!isFitField(name, value))
        throw new TypeError(`${JSON.stringify(name)} cannot be a header with this value`);
      if (map.count >= FIELDS_MAX) throw new RangeError('too many headers');
      map.add(name, value);
    }
  }
}

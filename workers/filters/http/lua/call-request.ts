/** Requests of scripts to clusters, as they are written in a script. */
import { LuaTable } from '../../../../shared/lua/lua-table.ts';
import { textOf } from '../../../../shared/lua/lua-state.ts';
import { typeName } from '../../../../shared/lua/call-state.ts';
import type { LuaValue } from '../../../../shared/lua/values.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { isFitField } from '../../../stream/permitted.ts';
import type { MethodMaker } from './stream-object.ts';

/** The limit of one table of headers. */
const HEADERS_MAX = 1000;

export type TableHeaders = readonly (readonly [string, readonly string[]])[];

export interface CallWish {
  readonly cluster: string;
  readonly headers: HeaderMap;
  readonly body: Buffer | undefined;
  readonly timeoutMs: number;
  /** Nobody waits for the response. */
  readonly isAsynchronous: boolean;
  readonly keepsRepeated: boolean;
  readonly tellsAddress: boolean;
}

interface CallOptions {
  timeoutMs: number;
  isAsynchronous: boolean;
  keepsRepeated: boolean;
  tellsAddress: boolean;
}

/** Values that are lists give repeated headers. */
export function readHeaders({ state }: MethodMaker, table: LuaTable): TableHeaders {
  const headers: [string, string[]][] = [];
  const text = (value: LuaValue): string => {
    const found = typeof value === 'boolean' ? String(value) : textOf(value);
    if (found === undefined)
      throw state.hostFailure(`unexpected type ${typeName(value)} in header table`);
    return found;
  };
  let count = 0;
  for (let pair = table.next(undefined); pair; pair = table.next(pair[0])) {
    const [key, value] = pair;
    const values = value instanceof LuaTable ? itemsOf(value).map(text) : [text(value)];
    count += values.length;
    if (count > HEADERS_MAX) throw state.hostFailure('too many headers');
    headers.push([text(key).toLowerCase(), values]);
  }
  return headers;
}

function itemsOf(table: LuaTable): LuaValue[] {
  const items: LuaValue[] = [];
  for (let at = 1; at <= table.length && at <= HEADERS_MAX; at++) items.push(table.get(at));
  return items;
}

/** `handle:httpCall(cluster, headers, body, timeout, asynchronous)`, or with a table of options. */
export function readCall(
  maker: MethodMaker,
  args: readonly LuaValue[],
  callable: { hasCluster(name: string): boolean; hasTooManyCalls(): boolean },
): CallWish {
  const { check, state } = maker;
  const options = readOptions(maker, args);
  const cluster = check.text(args, 1);
  const table = check.table(args, 2);
  const body = args[3] === undefined ? undefined : Buffer.from(check.text(args, 3), 'latin1');
  if (!callable.hasCluster(cluster)) {
    throw state.hostFailure('http call cluster invalid. Must be configured');
  }
  if (options.isAsynchronous && callable.hasTooManyCalls()) {
    throw state.hostFailure('too many asynchronous calls');
  }
  const headers = requestHeaders(readHeaders(maker, table));
  if (headers.path === '' || headers.method === '' || headers.authority === '') {
    throw state.hostFailure("http call headers must include ':path', ':method', and ':authority'");
  }
  if (body !== undefined && body.length > 0) headers.set('content-length', String(body.length));
  return { cluster, headers, body, ...options };
}

/** What may not stand in a request is left out. */
function requestHeaders(table: TableHeaders): HeaderMap {
  const headers = new HeaderMap();
  headers.scheme = 'http';
  for (const [name, values] of table) {
    const isPseudo = name.startsWith(':') || name === 'host';
    for (const value of values) {
      if (isPseudo) headers.set(name, value);
      else if (isFitField(name, value) && name !== 'content-length') headers.add(name, value);
    }
  }
  return headers;
}

function readOptions({ check, state }: MethodMaker, args: readonly LuaValue[]): CallOptions {
  const options = { timeoutMs: 0, isAsynchronous: false, keepsRepeated: false, tellsAddress: true };
  const given = args[4];
  if (!(given instanceof LuaTable)) {
    options.timeoutMs = check.number(args, 4);
    options.isAsynchronous = args[5] === undefined ? false : check.boolean(args, 5);
  } else {
    for (let pair = given.next(undefined); pair; pair = given.next(pair[0])) {
      const [key, value] = pair;
      if (key === 'timeout_ms') options.timeoutMs = check.number([value], 0);
      else if (key === 'asynchronous') options.isAsynchronous = check.boolean([value], 0);
      else if (key === 'return_duplicate_headers')
        options.keepsRepeated = check.boolean([value], 0);
      else if (key === 'send_xff') options.tellsAddress = check.boolean([value], 0);
      else if (key === 'trace_sampled') check.boolean([value], 0);
      else
        throw state.hostFailure(`"${String(textOf(key))}" is not valid key for httpCall() options`);
    }
  }
  if (!(options.timeoutMs >= 0)) throw state.hostFailure('http call timeout must be >= 0');
  return options;
}

/** Headers and trailers as scripts see them. */
import type { HostFunction, LuaValue } from '../../../../shared/lua/values.ts';
import { NO_VALUES } from '../../../../shared/lua/values.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { headerName } from '../../../stream/header-names.ts';
import { type MethodMaker, type Methods, type Scope, StreamObject } from './stream-object.ts';

const PSEUDO_NAMES = [':authority', ':path', ':method', ':scheme', ':protocol', ':status'];
/** What a script may put into one block, so that it cannot grow without end. */
const ENTRIES_MAX = 10_000;

export interface HeaderRights {
  /** Not since the headers went on. */
  canChange(): boolean;
  /** A change of request headers may lead to another route. */
  onChange(): void;
  setReasonPhrase?(phrase: string): void;
}

export class HeaderObject extends StreamObject {
  readonly headers: HeaderMap;
  readonly rights: HeaderRights;
  isIterating = false;

  constructor(
    methods: Methods,
    scope: Scope,
    { headers, rights }: { headers: HeaderMap; rights: HeaderRights },
  ) {
    super(methods, scope);
    this.headers = headers;
    this.rights = rights;
  }

  override iterate(): HostFunction {
    const { headers } = this;
    const pairs: (readonly [string, string])[] = [];
    for (const name of PSEUDO_NAMES) {
      const value = headers.get(name);
      if (value !== undefined) pairs.push([name, value]);
    }
    headers.forEach((name, value) => pairs.push([name, value]));
    this.isIterating = true;
    let at = 0;
    return () => {
      const pair = pairs[at++];
      if (pair !== undefined) return pair;
      this.isIterating = false;
      return undefined;
    };
  }
}

export function headerMethods(maker: MethodMaker): Methods {
  const { check, state } = maker;
  const nameAt = (args: readonly LuaValue[]): string => lowerCase(check.text(args, 1));
  const change = ({ isIterating, rights }: HeaderObject): void => {
    if (isIterating) throw state.hostFailure('header map cannot be modified while iterating');
    if (!rights.canChange()) throw state.hostFailure('header map can no longer be modified');
    rights.onChange();
  };
  return maker.methods<HeaderObject>(HeaderObject, {
    get: ({ headers }, args) => headers.getAll(nameAt(args)) ?? NO_VALUES,
    getAtIndex: ({ headers }, args) => {
      const at = check.integer(args, 2);
      return at < 0 ? NO_VALUES : (valuesOf(headers, nameAt(args))[at] ?? NO_VALUES);
    },
    getNumValues: ({ headers }, args) => valuesOf(headers, nameAt(args)).length,
    add: (self, args) => {
      const [name, value] = [nameAt(args), check.text(args, 2)];
      change(self);
      if (self.headers.count >= ENTRIES_MAX) throw state.hostFailure('too many headers');
      if (self.headers.get(name) !== undefined && isPseudo(name)) self.headers.append(name, value);
      else self.headers.add(name, value);
      return NO_VALUES;
    },
    replace: (self, args) => {
      const [name, value] = [nameAt(args), check.text(args, 2)];
      change(self);
      if (self.headers.count >= ENTRIES_MAX) throw state.hostFailure('too many headers');
      self.headers.set(name, value);
      return NO_VALUES;
    },
    remove: (self, args) => {
      const name = nameAt(args);
      change(self);
      self.headers.remove(name);
      return NO_VALUES;
    },
    setHttp1ReasonPhrase: (self, args) => {
      const phrase = check.text(args, 1);
      change(self);
      self.rights.setReasonPhrase?.(phrase);
      return NO_VALUES;
    },
  });
}

function isPseudo(name: string): boolean {
  return name.startsWith(':') || name === 'host';
}

function lowerCase(name: string): string {
  const lower = name.toLowerCase();
  return headerName(lower)?.name ?? lower;
}

function valuesOf(headers: HeaderMap, name: string): readonly string[] {
  const values: string[] = [];
  headers.forEach((each, value) => {
    if (each === name) values.push(value);
  });
  const only = values.length === 0 ? headers.get(name) : undefined;
  return only === undefined ? values : [only];
}

/** Calls of a script, where it is in it, and the errors that say so. */
import { LuaError } from './lua-error.ts';
import { LuaTable } from './lua-table.ts';
import { ScriptLimits } from './script-limits.ts';
import {
  type HostFunction,
  LuaFunction,
  LuaThread,
  LuaUserdata,
  type LuaValue,
  type Results,
  type Running,
  type Site,
} from './values.ts';

/** Functions that have not returned; deeper ones would need more of the process's own stack. */
const DEPTH_MAX = 1000;

export class CallState extends ScriptLimits {
  depth = 0;
  sites: (Site | undefined)[] = [];
  /** Where a function of the host was called last. */
  site: Site | undefined = undefined;
  /** The coroutine that runs now; undefined: none, but the run itself. */
  thread: LuaThread | undefined = undefined;
  readonly stringMethods = new LuaTable();

  enter(site: Site): void {
    if (this.depth >= DEPTH_MAX) throw this.failure('stack overflow', site);
    this.site = site;
    this.sites[++this.depth] = site;
  }

  /** An error of the language at a place. */
  failure(message: string, site: Site | undefined): LuaError {
    return new LuaError(`${positionOf(site)}${message}`);
  }

  /** An error of the function of the host that was called last. */
  hostFailure(message: string): LuaError {
    return new LuaError(`${this.where(1)}${message}`);
  }

  /** The place of the call: 1 of the host's function, 2 of the script's function that made it. */
  where(level: number): string {
    const site = level <= 1 ? this.site : this.sites[this.depth + 2 - level];
    return site === undefined || (level <= 1 && site.isTail) ? '' : positionOf(site);
  }

  argumentFailure(index: number, message: string): LuaError {
    const { site } = this;
    const isNamed = site !== undefined && !site.isTail && site.name !== '';
    const name = isNamed ? (/'(.*)'/s.exec(site.name)?.[1] ?? '?') : '?';
    const number = isNamed && site.isMethod ? index - 1 : index;
    if (number === 0) return this.hostFailure(`calling '${name}' on bad self (${message})`);
    return this.hostFailure(`bad argument #${number} to '${name}' (${message})`);
  }

  /** Calls what is no function, and fails where that cannot be called. */
  *callOther(callee: LuaValue, site: Site, args: readonly LuaValue[]): Running {
    const handler = this.metamethod(callee, '__call');
    if (typeof handler === 'function') {
      this.site = site;
      return handler(callee, ...args);
    }
    if (!(handler instanceof LuaFunction)) throw this.typeFailure('call', callee, site);
    this.enter(site);
    const results = yield* handler.begin(callee, ...args);
    this.depth--;
    return results;
  }

  /** Calls anything in a generator of the host. */
  *call(callee: LuaValue, args: readonly LuaValue[]): Running {
    if (typeof callee === 'function') return callee(...args);
    const site = this.site ?? NOWHERE;
    if (!(callee instanceof LuaFunction)) return yield* this.callOther(callee, site, args);
    this.enter(site);
    const results = yield* callee.begin(...args);
    this.depth--;
    return results;
  }

  /** Calls from a function of the host that cannot wait. */
  callNow(callee: LuaValue, ...args: LuaValue[]): Results {
    if (typeof callee === 'function') return callee(...args);
    const { depth, site } = this;
    return this.uninterrupted(() => {
      const step = this.call(callee, args).next();
      if (step.done !== true) throw this.failure('attempt to yield across C-call boundary', site);
      this.depth = depth;
      this.site = site;
      return step.value;
    });
  }

  metatableOf(value: LuaValue): LuaTable | undefined {
    return value instanceof LuaTable ? value.metatable : undefined;
  }

  metamethod(value: LuaValue, event: string): LuaValue {
    return this.metatableOf(value)?.get(event);
  }

  typeFailure(
    what: string,
    value: LuaValue,
    site: Site | undefined,
    name = site?.name ?? '',
  ): LuaError {
    const type = typeName(value);
    const subject = name === '' ? `a ${type} value` : `${name} (a ${type} value)`;
    return this.failure(`attempt to ${what} ${subject}`, site);
  }
}

const NOWHERE: Site = { chunk: '?', line: 0, name: '', right: '', isTail: true, isMethod: false };

function positionOf(site: Site | undefined): string {
  return site === undefined || site === NOWHERE ? '' : `${site.chunk}:${site.line}: `;
}

export function typeName(value: LuaValue): string {
  if (value === undefined) return 'nil';
  if (value instanceof LuaTable) return 'table';
  if (value instanceof LuaFunction) return 'function';
  if (value instanceof LuaThread) return 'thread';
  if (value instanceof LuaUserdata) return 'userdata';
  return typeof value;
}

export function isFunction(value: LuaValue): value is LuaFunction | HostFunction {
  return typeof value === 'function' || value instanceof LuaFunction;
}

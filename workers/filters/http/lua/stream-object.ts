/** Objects of a stream that a script is given. They can be used for as long as its function runs. */
import { typeName } from '../../../../shared/lua/call-state.ts';
import { Arguments } from '../../../../shared/lua/lib/check-arguments.ts';
import type { LuaState } from '../../../../shared/lua/lua-state.ts';
import {
  type HostFunction,
  LuaFunction,
  LuaUserdata,
  type LuaValue,
  NO_VALUES,
  type Results,
  type Running,
} from '../../../../shared/lua/values.ts';

type ScriptLogLevel = 'trace' | 'debug' | 'info' | 'warning' | 'error' | 'critical';
export type ScriptLog = (level: ScriptLogLevel, text: string) => void;

export type Methods = ReadonlyMap<string, HostFunction | LuaFunction>;

/** The function that the object was made for. */
export interface Scope {
  isLive: boolean;
}

export abstract class StreamObject extends LuaUserdata {
  readonly methods: Methods;
  readonly scope: Scope;

  constructor(methods: Methods, scope: Scope) {
    super();
    this.methods = methods;
    this.scope = scope;
  }
}

/** `args` has the object itself first, as errors count. */
export type Method<Self> = (self: Self, args: readonly LuaValue[]) => Results;
type WaitingMethod<Self> = (self: Self, args: readonly LuaValue[]) => Running;

const LOG_METHODS: readonly (readonly [name: string, level: ScriptLogLevel])[] = [
  ['logTrace', 'trace'],
  ['logDebug', 'debug'],
  ['logInfo', 'info'],
  ['logWarn', 'warning'],
  ['logErr', 'error'],
  ['logCritical', 'critical'],
];

/** Makes the methods of the objects of one script. */
export class MethodMaker {
  readonly state: LuaState;
  readonly check: Arguments;
  readonly #log: ScriptLog;

  constructor(state: LuaState, log: ScriptLog) {
    this.state = state;
    this.check = new Arguments(state);
    this.#log = log;
  }

  methods<Self extends StreamObject>(
    ofClass: abstract new (...args: never[]) => Self,
    members: Record<string, Method<Self>>,
    waiting: Record<string, WaitingMethod<Self>> = {},
  ): Methods {
    const made = new Map<string, HostFunction | LuaFunction>();
    for (const [name, level] of LOG_METHODS) {
      made.set(name, (...args) => {
        this.#selfOf(ofClass, args);
        this.#log(level, this.check.text(args, 1));
        return NO_VALUES;
      });
    }
    for (const [name, act] of Object.entries(members)) {
      made.set(name, (...args) => act(this.#selfOf(ofClass, args), args));
    }
    for (const [name, act] of Object.entries(waiting)) {
      made.set(name, new LuaFunction((...args) => act(this.#selfOf(ofClass, args), args)));
    }
    return made;
  }

  #selfOf<Self extends StreamObject>(
    ofClass: abstract new (...args: never[]) => Self,
    args: readonly LuaValue[],
  ): Self {
    const [self] = args;
    if (!(self instanceof ofClass)) {
      const got = args.length === 0 ? 'no value' : typeName(self);
      throw this.state.argumentFailure(1, `${ofClass.name} expected, got ${got}`);
    }
    if (!self.scope.isLive) throw this.state.hostFailure('object used outside of proper scope');
    return self;
  }
}

/** One script of a filter, loaded in this worker: its globals, its functions, its methods. */
import { LuaError } from '../../../../shared/lua/lua-error.ts';
import { isFunction } from '../../../../shared/lua/call-state.ts';
import { plainText } from '../../../../shared/lua/lua-state.ts';
import { retainedBytes } from '../../../../shared/lua/retained-bytes.ts';
import { ScriptMachine } from '../../../../shared/lua/script-machine.ts';
import { streamGlobals } from '../../../../shared/lua/stream-globals.ts';
import type { LuaValue } from '../../../../shared/lua/values.ts';
import type { LuaScript } from '../../../../shared/resources/filters/http/lua/lua.ts';
import { bodyMethods } from './body-object.ts';
import { headerMethods } from './header-object.ts';
import { infoMethods } from './info-objects.ts';
import { type ScriptStats, statsMethods } from './stats-object.ts';
import { handleMethods } from './stream-handle.ts';
import { MethodMaker, type Methods, type ScriptLog } from './stream-object.ts';
import { tlsMethods } from './tls-object.ts';

export type ScriptFunction = 'envoy_on_request' | 'envoy_on_response';

/** What a script's globals may hold from one stream to the next. */
const RETAINED_BYTES_MAX = 64 * 1024 * 1024;
/** They are counted after so much was allocated. */
const COUNT_AFTER_BYTES = 32 * 1024 * 1024;

interface ScriptMethods {
  readonly handle: Methods;
  readonly headers: Methods;
  readonly body: Methods;
}

export class LoadedScript {
  readonly #script: LuaScript;
  readonly #log: ScriptLog;
  readonly #stats: ScriptStats;
  #machine!: ScriptMachine;
  #methods!: ScriptMethods;

  constructor(script: LuaScript, log: ScriptLog, stats: ScriptStats) {
    this.#script = script;
    this.#log = log;
    this.#stats = stats;
    this.#load();
    for (const name of ['envoy_on_request', 'envoy_on_response'] as const) {
      if (this.functionOf(name) !== undefined) continue;
      const direction = name === 'envoy_on_request' ? 'requests' : 'responses';
      log('info', `${name}() function not found. Lua filter will not hook ${direction}.`);
    }
  }

  get machine(): ScriptMachine {
    return this.#machine;
  }

  get methods(): ScriptMethods {
    return this.#methods;
  }

  /** Undefined: the script has none. */
  functionOf(name: ScriptFunction): LuaValue {
    const value = this.#machine.state.globals.get(name);
    return isFunction(value) ? value : undefined;
  }

  /** After a run: a script that keeps too much is loaded again. */
  afterRun(): void {
    const { state } = this.#machine;
    if (state.allocatedBytes < COUNT_AFTER_BYTES) return;
    state.allocatedBytes = 0;
    if (retainedBytes(state.globals, RETAINED_BYTES_MAX) <= RETAINED_BYTES_MAX) return;
    this.#log('error', 'script log: the globals of the script are too large: it is loaded again');
    this.#load();
  }

  #load(): void {
    const { source, modules } = this.#script;
    this.#machine = new ScriptMachine(
      (line) => this.#log('info', `script log: ${line}`),
      streamGlobals(),
      (name) => modules.get(name),
    );
    try {
      this.#machine.load(source);
    } catch (error) {
      // It was loaded with the configuration; without its functions nothing is run.
      this.#log(
        'error',
        `script load error: ${error instanceof LuaError ? plainText(error.value) : String(error)}`,
      );
    }
    const maker = new MethodMaker(this.#machine.state, (level, text) =>
      this.#log(level, `script log: ${text}`),
    );
    const headers = headerMethods(maker);
    const parts = {
      ...infoMethods(maker, tlsMethods(maker)),
      headers,
      stats: statsMethods(maker, this.#stats),
    };
    this.#methods = { headers, body: bodyMethods(maker), handle: handleMethods(maker, parts) };
  }
}

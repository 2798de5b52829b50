/** envoy.filters.http.lua: scripts that read and change requests and responses. */
import type { ModuleSource } from '../../../../lua/lib/module-library.ts';
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import type { Struct } from '../../../../text/dictionary.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

/** Compared by identity: its compiled form is kept under it. */
export interface LuaScript {
  /** One character per byte. */
  readonly source: string;
  /** What it requires, by name: files that were read with the configuration. */
  readonly modules: ReadonlyMap<string, ModuleSource>;
}

interface LuaOptions {
  /** Undefined: only routes have one. */
  readonly script: LuaScript | undefined;
  /** What routes may name. */
  readonly scripts: ReadonlyMap<string, LuaScript>;
  /** Empty, or what stands before the names of stats, without the dot. */
  readonly statPrefix: string;
  /** A change of request headers makes the route be chosen again. */
  readonly clearsRoute: boolean;
  readonly filterContext: Struct | undefined;
}

export interface LuaPerRoute {
  readonly isDisabled: boolean;
  /** The name of one of the filter's `scripts`. */
  readonly scriptName: string | undefined;
  readonly script: LuaScript | undefined;
  readonly filterContext: Struct | undefined;
}

/** Prefix: `http.<stat_prefix>.lua.` and the filter's own. */
export const LUA = defineTemplate('lua', {
  errors: counter('Errors that ended a script'),
  executions: counter('Functions of scripts that were run'),
});

export type LuaFilterSettings = FilterResource<'lua', LuaOptions>;

export const LUA_DECLARATION = declareKind<LuaFilterSettings>(LUA);

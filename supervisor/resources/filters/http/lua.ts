/**
 * Resolves envoy.extensions.filters.http.lua.v3. Every script is loaded here once, so that one which
 * does not load is refused with the configuration.
 */
import type { DataSource } from '../../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type {
  Lua,
  LuaPerRoute as PerRouteMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/lua/v3/lua.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  LuaFilterSettings,
  LuaPerRoute,
  LuaScript,
} from '../../../../shared/resources/filters/http/lua/lua.ts';
import { type Struct, structOf } from '../../../../shared/text/dictionary.ts';
import { readDataSource } from '../../data-source.ts';
import { loadScript } from '../../lua-scripts.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const FIELDS = knownFields<Lua>([
  'inline_code',
  'source_codes',
  'default_source_code',
  'stat_prefix',
  'clear_route_cache',
  'filter_context',
]);
const PER_ROUTE_FIELDS = knownFields<PerRouteMessage>([
  'disabled',
  'name',
  'source_code',
  'filter_context',
]);

export const LUA_FILTER = httpFilter(
  'envoy.filters.http.lua',
  'envoy.extensions.filters.http.lua.v3.Lua',
  (message: Lua, scope, name): LuaFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const { inline_code: inline = '', default_source_code: source } = message;
    if (inline !== '' && source !== undefined) {
      scope.error(
        'conflict',
        'Error: Only one of `inline_code` or `default_source_code` can be set for the Lua filter.',
      );
    }
    const sources = Object.entries(message.source_codes ?? {});
    return {
      kind: 'lua',
      name,
      options: {
        script:
          inline === ''
            ? source && readScript(source, scope.at('default_source_code'))
            : loadScript(toByteString(inline), scope.at('inline_code')),
        scripts: new Map(
          sources.flatMap(([key, each]) => {
            const script = readScript(each, scope.at('source_codes', key));
            return script === undefined ? [] : [[key, script]];
          }),
        ),
        statPrefix: message.stat_prefix ?? '',
        clearsRoute: message.clear_route_cache ?? true,
        filterContext: contextOf(message.filter_context),
      },
    };
  },
  perRoute('envoy.extensions.filters.http.lua.v3.LuaPerRoute', resolvePerRoute),
);

function resolvePerRoute(message: PerRouteMessage, scope: Scope): LuaPerRoute {
  refuseOtherFields(message, PER_ROUTE_FIELDS, scope);
  const { source_code: source } = message;
  return {
    isDisabled: message.disabled ?? false,
    scriptName: message.name,
    script: source && readScript(source, scope.at('source_code')),
    filterContext: contextOf(message.filter_context),
  };
}

function contextOf(message: object | undefined): Struct | undefined {
  return message && structOf(message);
}

function readScript(source: DataSource, scope: Scope): LuaScript | undefined {
  const bytes = readDataSource(source, scope);
  return bytes && loadScript(bytes.toString('latin1'), scope);
}
